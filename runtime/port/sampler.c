/* A timer on the thread's own clock interrupts it; the interrupted instruction is the oldest one that has not ended, so what is waited for is what is
 * noted. The code that is measured stays as it is, which code that reads the clock around every step would not. Part of the host. */
#define _GNU_SOURCE
#include "port/sampler.h"

#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

static struct {
	uint64_t *places;
	size_t room;
	volatile size_t count;
	timer_t timer;
	struct sigaction before;
} sampler;

static void
sampler_note(int number, siginfo_t *info, void *context)
{
	const ucontext_t *const interrupted = context;

	(void)number;
	(void)info;
	if (sampler.count < sampler.room)
		sampler.places[sampler.count++] = (uint64_t)interrupted->uc_mcontext.gregs[REG_RIP];
}

int
sampler_begin(uint64_t *places, size_t room, uint64_t period_ns)
{
	struct sigaction action;
	struct sigevent event;
	const struct timespec period = { .tv_sec = 0, .tv_nsec = (long)period_ns };
	const struct itimerspec times = { .it_interval = period, .it_value = period };

	sampler.places = places;
	sampler.room = room;
	sampler.count = 0;
	memset(&action, 0, sizeof(action));
	action.sa_sigaction = sampler_note;
	action.sa_flags = SA_SIGINFO | SA_RESTART;
	if (sigaction(SIGPROF, &action, &sampler.before) != 0)
		return 0;
	memset(&event, 0, sizeof(event));
	event.sigev_notify = SIGEV_THREAD_ID;
	event.sigev_signo = SIGPROF;
	event.sigev_notify_thread_id = (pid_t)syscall(SYS_gettid);
	if (timer_create(CLOCK_MONOTONIC, &event, &sampler.timer) != 0) {
		(void)sigaction(SIGPROF, &sampler.before, NULL);
		return 0;
	}
	if (timer_settime(sampler.timer, 0, &times, NULL) != 0) {
		(void)sampler_end();
		return 0;
	}
	return 1;
}

size_t
sampler_end(void)
{
	(void)timer_delete(sampler.timer);
	(void)sigaction(SIGPROF, &sampler.before, NULL);
	return sampler.count;
}
