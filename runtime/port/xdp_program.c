/* AF_XDP: the program of BPF at an interface, written as instructions, so that no compiler for BPF is needed.
 *
 *    if (a tag was taken out)  put it back behind the addresses
 *    return the socket of this queue, or let the system have the frame
 */
#define _GNU_SOURCE
#include "port/xdp_sockets.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <linux/bpf.h>
#include <linux/if_link.h>

/* Newer than the headers of some distributions. */
#define PROGRAM_FRAGMENTS (1u << 5)	/* BPF_F_XDP_HAS_FRAGS */
#define PROGRAM_DEVICE (1u << 6)	/* BPF_F_XDP_DEV_BOUND_ONLY */

#define KFUNC_CALL 2	/* BPF_PSEUDO_KFUNC_CALL */
#define MAP_BY_FD 1	/* BPF_PSEUDO_MAP_FD */
#define QUEUE_OFFSET 16	/* of `rx_queue_index` in `struct xdp_md` */

#define OP(CODE, TO, FROM, OFFSET, VALUE) \
	{ .code = (CODE), .dst_reg = (TO), .src_reg = (FROM), .off = (OFFSET), .imm = (VALUE) }
#define MOVE(TO, FROM) OP(BPF_ALU64 | BPF_MOV | BPF_X, TO, FROM, 0, 0)
#define MOVE_NUMBER(TO, VALUE) OP(BPF_ALU64 | BPF_MOV | BPF_K, TO, 0, 0, VALUE)
#define ADD_NUMBER(TO, VALUE) OP(BPF_ALU64 | BPF_ADD | BPF_K, TO, 0, 0, VALUE)
#define LOAD(SIZE, TO, FROM, OFFSET) OP(BPF_LDX | BPF_MEM | (SIZE), TO, FROM, OFFSET, 0)
#define STORE(SIZE, TO, OFFSET, FROM) OP(BPF_STX | BPF_MEM | (SIZE), TO, FROM, OFFSET, 0)
#define CALL(FUNCTION) OP(BPF_JMP | BPF_CALL, 0, 0, 0, FUNCTION)

/* Gives the tag: `bpf_xdp_metadata_rx_vlan_tag`, with its number in the kernel's types. */
#define TAG_CODE(FUNCTION) \
	MOVE(BPF_REG_6, BPF_REG_1), \
	MOVE(BPF_REG_2, BPF_REG_10), ADD_NUMBER(BPF_REG_2, -8), \
	MOVE(BPF_REG_3, BPF_REG_10), ADD_NUMBER(BPF_REG_3, -16), \
	OP(BPF_ST | BPF_MEM | BPF_DW, BPF_REG_10, 0, -8, 0), OP(BPF_ST | BPF_MEM | BPF_DW, BPF_REG_10, 0, -16, 0), \
	OP(BPF_JMP | BPF_CALL, 0, KFUNC_CALL, 0, FUNCTION), \
	OP(BPF_JMP | BPF_JNE | BPF_K, BPF_REG_0, 0, 20, 0),		/* no tag: to the end */ \
	MOVE(BPF_REG_1, BPF_REG_6), MOVE_NUMBER(BPF_REG_2, -4), CALL(BPF_FUNC_xdp_adjust_head), \
	OP(BPF_JMP | BPF_JNE | BPF_K, BPF_REG_0, 0, 16, 0), \
	LOAD(BPF_W, BPF_REG_1, BPF_REG_6, 0), LOAD(BPF_W, BPF_REG_2, BPF_REG_6, 4), \
	MOVE(BPF_REG_3, BPF_REG_1), ADD_NUMBER(BPF_REG_3, 16), \
	OP(BPF_JMP | BPF_JGT | BPF_X, BPF_REG_3, BPF_REG_2, 11, 0), \
	LOAD(BPF_W, BPF_REG_4, BPF_REG_1, 4), STORE(BPF_W, BPF_REG_1, 0, BPF_REG_4),	/* the addresses, four bytes to the front */ \
	LOAD(BPF_W, BPF_REG_4, BPF_REG_1, 8), STORE(BPF_W, BPF_REG_1, 4, BPF_REG_4), \
	LOAD(BPF_W, BPF_REG_4, BPF_REG_1, 12), STORE(BPF_W, BPF_REG_1, 8, BPF_REG_4), \
	LOAD(BPF_H, BPF_REG_4, BPF_REG_10, -8), STORE(BPF_H, BPF_REG_1, 12, BPF_REG_4),	/* the type, in network order */ \
	LOAD(BPF_H, BPF_REG_4, BPF_REG_10, -16), OP(BPF_ALU | BPF_END | BPF_TO_BE, BPF_REG_4, 0, 0, 16), \
	STORE(BPF_H, BPF_REG_1, 14, BPF_REG_4)

#define DIRECT_CODE(MAP) \
	LOAD(BPF_W, BPF_REG_2, BPF_REG_6, QUEUE_OFFSET), \
	OP(BPF_LD | BPF_DW | BPF_IMM, BPF_REG_1, MAP_BY_FD, 0, MAP), OP(0, 0, 0, 0, 0), \
	MOVE_NUMBER(BPF_REG_3, XDP_PASS), CALL(BPF_FUNC_redirect_map), \
	OP(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)

static int
program_load(const struct bpf_insn *code, size_t count, uint32_t flags, int index)
{
	LIBBPF_OPTS(bpf_prog_load_opts, options, .prog_flags = flags, .prog_ifindex = (flags & PROGRAM_DEVICE) != 0 ? (uint32_t)index : 0);

	return bpf_prog_load(BPF_PROG_TYPE_XDP, "bacus", "GPL", code, count, &options);
}

/* The kernel's number of the function that gives a frame's VLAN tag; 0: it has none, or does not describe its types. */
static int
tag_function(void)
{
	static int found = -1;
	struct btf *types;

	if (found >= 0)
		return found;
	types = btf__load_vmlinux_btf();
	found = types == NULL ? 0 : btf__find_by_name_kind(types, "bpf_xdp_metadata_rx_vlan_tag", BTF_KIND_FUNC);
	found = found < 0 ? 0 : found;
	btf__free(types);
	return found;
}

/* With the tag where driver and kernel give it, and with frames of several buffers where the driver has them. */
static int
program_of(struct xdp_interface *xdp, int index)
{
	const struct bpf_insn plain[] = { MOVE(BPF_REG_6, BPF_REG_1), DIRECT_CODE(xdp->map) };
	const struct bpf_insn tagged[] = { TAG_CODE(tag_function()), DIRECT_CODE(xdp->map) };
	int program = -1;

	xdp->tags = !xdp->generic && tag_function() != 0;
	if (xdp->tags)
		program = program_load(tagged, sizeof(tagged) / sizeof(tagged[0]), PROGRAM_FRAGMENTS | PROGRAM_DEVICE, index);
	xdp->tags = program >= 0;
	if (program < 0)
		program = program_load(plain, sizeof(plain) / sizeof(plain[0]), PROGRAM_FRAGMENTS, index);
	return program >= 0 ? program : program_load(plain, sizeof(plain) / sizeof(plain[0]), 0, index);
}

/* The way out, by the kernel's reason. */
static int
program_failure(const char *what, char *why)
{
	const char *way = errno == EPERM || errno == EACCES ? "it needs root, or CAP_BPF, CAP_NET_ADMIN and CAP_NET_RAW" :
		errno == EBUSY || errno == EEXIST ? "another program is there; `ip link set DEVICE xdp off` takes it away" :
		errno == EINVAL || errno == ENOSYS ? "the kernel has no AF_XDP (CONFIG_XDP_SOCKETS), or the MTU is too large for it" : strerror(errno);

	return port_fail(why, "%s: %s", what, way);
}

int
xdp_program_attach(struct xdp_interface *xdp, int index, char *why)
{
	int program;

	if (xdp->link >= 0)
		(void)close(xdp->link);
	xdp->link = -1;
	for (xdp->generic = 0; xdp->generic < 2 && xdp->link < 0; xdp->generic++) {
		LIBBPF_OPTS(bpf_link_create_opts, options, .flags = xdp->generic ? XDP_FLAGS_SKB_MODE : XDP_FLAGS_DRV_MODE);

		program = program_of(xdp, index);
		if (program < 0)
			return program_failure("the kernel does not take the program of AF_XDP", why);
		xdp->link = bpf_link_create(program, index, BPF_XDP, &options);
		if (xdp->link < 0 && errno != EOPNOTSUPP) {
			(void)program_failure("the program of AF_XDP cannot be put at the interface", why);
			(void)close(program);
			return -1;
		}
		(void)close(program);
		if (xdp->link >= 0)
			break;
	}
	if (xdp->link < 0)
		return program_failure("the program of AF_XDP cannot be put at the interface", why);
	atomic_store(&xdp->index, index);
	return 0;
}
