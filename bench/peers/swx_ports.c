/* Our port type in a pipeline that was built of generated C. A file of its own: the library's internal header has names that ours have too. */
#include <rte_swx_pipeline_internal.h>

void swx_connect(struct rte_swx_pipeline *pipeline, const struct rte_swx_port_in_ops *in, void *queue, const struct rte_swx_port_out_ops *out,
		 uint16_t *numbers, uint32_t count);

void
swx_connect(struct rte_swx_pipeline *pipeline, const struct rte_swx_port_in_ops *in, void *queue, const struct rte_swx_port_out_ops *out,
	    uint16_t *numbers, uint32_t count)
{
	pipeline->in[0] = (struct port_in_runtime){ in->pkt_rx, queue };
	for (uint32_t i = 0; i < count; i++)
		pipeline->out[i] =
			(struct port_out_runtime){ out->pkt_tx, out->pkt_fast_clone_tx, out->pkt_clone_tx, out->flush, &numbers[i] };
}
