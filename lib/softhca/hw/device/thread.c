/* SPDX-License-Identifier: BSD-3-Clause */
/* The device thread: steps, spins, sleeps. */
#include "hw/device/thread.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#include "base/clock.h"
#include "hw/device/device.h"
#include "hw/roce/count.h"
#include "wire/wire.h"

/** Without work the thread spins for as long as that has paid lately, at most SPIN_NS, and tries
 * all of that again every SPIN_TRIES times: what a program on the same CPU posts never comes while
 * this thread spins. Then it sleeps, FIRST_SLEEP_NS at first and twice as long each time that no
 * work comes. A doorbell is a store in memory and wakes no thread, so LAST_SLEEP_NS bounds its
 * latency. */
#define SPIN_NS        50000
#define LEAST_SPIN_NS  1000
#define SPIN_TRIES     16
#define FIRST_SLEEP_NS 20000
#define LAST_SLEEP_NS  1000000

/** At most a hundred reports of counters a second. */
#define REPORT_NS 10000000

/** Of a device: the wire, and the netdev of each port. */
#define WIRES_MAX (1 + SHCA_DEVICE_PORTS_MAX)

/** Those of queue pairs with a transport, packets lost for lack of receive WQEs, and what the
 * former have sent and received. */
#define OUT_OF_BUFFER SHCA_NB_ROCE_COUNTS
#define TRAFFIC       (OUT_OF_BUFFER + 1)
#define NB_COUNTERS   (TRAFFIC + SHCA_NB_ROCE_TRAFFIC)

struct port {
	struct shca_device *dev;
	uint64_t reported[NB_COUNTERS];
};

enum wish {
	WISH_RUN,
	WISH_STAND,
	WISH_END,
};

struct shca_thread {
	pthread_t thread;
	/* Written under the lock, read without it once a round; the condition wakes the thread when
	 * it stands still. */
	_Atomic enum wish wish;
	bool is_standing;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	unsigned int nb_ports;
	unsigned int nb_wires;
	const struct shca_wire **wire; /* of all ports, including the kernel sides */
	struct pollfd *pollfd;         /* of those with a descriptor */
	uint64_t reported_ns;
	struct port port[];
};

static uint64_t
bound(uint64_t sleep_ns, uint64_t now, uint64_t due_ns)
{
	if (due_ns <= now)
		return 0;
	return due_ns - now < sleep_ns ? due_ns - now : sleep_ns;
}

/** @return the time until work is due, at most @p sleep_ns. */
static uint64_t
bound_by_due(const struct shca_thread *thread, uint64_t sleep_ns)
{
	uint64_t now = shca_clock_ns();

	for (unsigned int i = 0; i < thread->nb_wires; i++) {
		const struct shca_wire *wire = thread->wire[i];

		if (wire->ops->due_ns != NULL)
			sleep_ns = bound(sleep_ns, now, wire->ops->due_ns(wire));
	}
	for (unsigned int i = 0; i < thread->nb_ports; i++)
		sleep_ns = bound(sleep_ns, now, shca_device_due_ns(thread->port[i].dev));
	return sleep_ns;
}

static void
sleep_on_wires(struct shca_thread *thread, uint64_t sleep_ns)
{
	struct timespec timeout;
	nfds_t nb = 0;

	for (unsigned int i = 0; i < thread->nb_wires; i++) {
		int fd = thread->wire[i]->ops->fd(thread->wire[i]);

		if (fd >= 0)
			thread->pollfd[nb++] = (struct pollfd){ .fd = fd, .events = POLLIN };
	}
	sleep_ns = bound_by_due(thread, sleep_ns);
	timeout = (struct timespec){ .tv_nsec = (long)sleep_ns };
	(void)ppoll(thread->pollfd, nb, &timeout, NULL);
}

static const char *
name_of(unsigned int counter)
{
	if (counter >= TRAFFIC)
		return shca_roce_traffic_names[counter - TRAFFIC];
	return counter == OUT_OF_BUFFER ? "out_of_buffer" : shca_roce_count_names[counter];
}

static void
report_port(struct port *port)
{
	const struct shca_device_conf *conf = shca_device_conf(port->dev);
	uint64_t count[NB_COUNTERS];

	shca_device_lock(port->dev);
	memcpy(count, shca_roce_counts(port->dev), SHCA_NB_ROCE_COUNTS * sizeof(count[0]));
	count[OUT_OF_BUFFER] = shca_device_stats(port->dev)->out_of_buffer;
	shca_roce_traffic(port->dev, &count[TRAFFIC]);
	shca_device_unlock(port->dev);
	for (unsigned int i = 0; i < NB_COUNTERS; i++) {
		if (count[i] == port->reported[i])
			continue;
		port->reported[i] = count[i];
		conf->counter(conf->index, name_of(i), count[i], conf->arg);
	}
}

static void
report_counters(struct shca_thread *thread, uint64_t now)
{
	if (now - thread->reported_ns < REPORT_NS)
		return;
	thread->reported_ns = now;
	for (unsigned int i = 0; i < thread->nb_ports; i++)
		if (shca_device_conf(thread->port[i].dev)->counter != NULL)
			report_port(&thread->port[i]);
}

/** Run a round over all ports. @return work done. */
static unsigned int
step_all(struct shca_thread *thread)
{
	unsigned int nb_done = 0;

	for (unsigned int i = 0; i < thread->nb_ports; i++)
		nb_done += shca_device_step(thread->port[i].dev);
	return nb_done;
}

static void
stand(struct shca_thread *thread)
{
	pthread_mutex_lock(&thread->lock);
	thread->is_standing = true;
	pthread_cond_broadcast(&thread->changed);
	while (thread->wish == WISH_STAND)
		pthread_cond_wait(&thread->changed, &thread->lock);
	thread->is_standing = false;
	pthread_mutex_unlock(&thread->lock);
}

/** @return whether to continue. */
static bool
obey(struct shca_thread *thread)
{
	enum wish wish = atomic_load_explicit(&thread->wish, memory_order_relaxed);

	if (wish == WISH_STAND) {
		stand(thread);
		wish = thread->wish;
	}
	return wish != WISH_END;
}

/** How the thread waits for work. */
struct wait {
	uint64_t worked_ns; /* when there was work last */
	uint64_t idle_ns;   /* since then, when there was none last; 0: always */
	uint64_t spin_ns;
	uint64_t sleep_ns;    /* the last time; 0: it has not slept since */
	unsigned int nb_vain; /* times that it has spun and had to sleep */
};

/** There was work: learn from how it came. */
static void
end_wait(struct wait *wait, uint64_t now)
{
	if (wait->sleep_ns != 0) {
		wait->spin_ns /= 2;
		wait->nb_vain++;
	} else if (wait->idle_ns != 0 && 2 * (wait->idle_ns - wait->worked_ns) > wait->spin_ns) {
		wait->spin_ns = 2 * (wait->idle_ns - wait->worked_ns);
	}
	if (wait->spin_ns < LEAST_SPIN_NS)
		wait->spin_ns = LEAST_SPIN_NS;
	if (wait->spin_ns > SPIN_NS)
		wait->spin_ns = SPIN_NS;
	wait->worked_ns = now;
	wait->idle_ns = 0;
	wait->sleep_ns = 0;
}

/** There was none: spin or sleep. */
static void
go_on_waiting(struct shca_thread *thread, struct wait *wait, uint64_t now)
{
	const uint64_t spin_ns = wait->nb_vain % SPIN_TRIES == 0 ? SPIN_NS : wait->spin_ns;

	wait->idle_ns = now;
	if (now - wait->worked_ns < spin_ns)
		return;
	wait->sleep_ns = wait->sleep_ns == 0 ? FIRST_SLEEP_NS : wait->sleep_ns * 2;
	if (wait->sleep_ns > LAST_SLEEP_NS)
		wait->sleep_ns = LAST_SLEEP_NS;
	sleep_on_wires(thread, wait->sleep_ns);
}

static void *
run(void *arg)
{
	struct shca_thread *thread = arg;
	struct wait wait = { .spin_ns = SPIN_NS };

	/* Fine sleeps: the default slack of 50 us would more than double the short ones. */
	prctl(PR_SET_TIMERSLACK, 1000UL, 0UL, 0UL, 0UL);
	while (obey(thread)) {
		bool has_worked = step_all(thread) != 0;
		uint64_t now = shca_clock_ns();

		report_counters(thread, now);
		if (has_worked)
			end_wait(&wait, now);
		else
			go_on_waiting(thread, &wait, now);
	}
	return NULL;
}

/** The application's threads take all signals except those that faults raise: these must reach this
 * thread (base/mem.h), and would end the process if blocked. */
static void
set_mask(sigset_t *mask)
{
	static const int faults[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT };

	sigfillset(mask);
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		sigdelset(mask, faults[i]);
}

static int
create_thread(struct shca_thread *thread, const cpu_set_t *cpus)
{
	sigset_t mask, old_mask;
	pthread_attr_t attr;
	int ret;

	ret = pthread_attr_init(&attr);
	if (ret != 0)
		return -ret;
	if (cpus != NULL)
		ret = pthread_attr_setaffinity_np(&attr, sizeof(*cpus), cpus);
	if (ret == 0) {
		set_mask(&mask);
		pthread_sigmask(SIG_SETMASK, &mask, &old_mask);
		ret = pthread_create(&thread->thread, &attr, run, thread);
		pthread_sigmask(SIG_SETMASK, &old_mask, NULL);
	}
	pthread_attr_destroy(&attr);
	if (ret == 0)
		pthread_setname_np(thread->thread, "softhca");
	return -ret;
}

static void
free_thread(struct shca_thread *thread)
{
	pthread_cond_destroy(&thread->changed);
	pthread_mutex_destroy(&thread->lock);
	free(thread->pollfd);
	free(thread->wire);
	free(thread);
}

int
shca_thread_start(struct shca_device *const *devs, unsigned int nb_devs, const cpu_set_t *cpus,
	struct shca_thread **out)
{
	struct shca_thread *thread = calloc(1, sizeof(*thread) + nb_devs * sizeof(struct port));
	int ret;

	if (thread == NULL)
		return -ENOMEM;
	pthread_mutex_init(&thread->lock, NULL);
	pthread_cond_init(&thread->changed, NULL);
	thread->nb_ports = nb_devs;
	thread->wire = calloc(WIRES_MAX * (size_t)nb_devs, sizeof(struct shca_wire *));
	thread->pollfd = calloc(WIRES_MAX * (size_t)nb_devs, sizeof(*thread->pollfd));
	if (thread->wire == NULL || thread->pollfd == NULL) {
		free_thread(thread);
		return -ENOMEM;
	}
	for (unsigned int i = 0; i < nb_devs; i++) {
		const struct shca_device_conf *conf = shca_device_conf(devs[i]);

		thread->port[i].dev = devs[i];
		thread->wire[thread->nb_wires++] = conf->wire;
		for (uint32_t port = 1; port <= shca_conf_nb_ports(conf); port++)
			if (shca_conf_kernel(conf, port) != NULL)
				thread->wire[thread->nb_wires++] = shca_conf_kernel(conf, port);
	}
	ret = create_thread(thread, cpus);
	if (ret != 0) {
		free_thread(thread);
		return ret;
	}
	*out = thread;
	return 0;
}

static void
send_request(struct shca_thread *thread, enum wish wish)
{
	pthread_mutex_lock(&thread->lock);
	thread->wish = wish;
	pthread_cond_broadcast(&thread->changed);
	while (wish == WISH_STAND && thread->wish == wish && !thread->is_standing)
		pthread_cond_wait(&thread->changed, &thread->lock);
	pthread_mutex_unlock(&thread->lock);
}

void
shca_thread_freeze(struct shca_thread *thread)
{
	send_request(thread, WISH_STAND);
}

void
shca_thread_thaw(struct shca_thread *thread)
{
	send_request(thread, WISH_RUN);
}

bool
shca_thread_is_frozen(struct shca_thread *thread)
{
	return thread->wish == WISH_STAND;
}

void
shca_thread_stop(struct shca_thread *thread)
{
	if (thread == NULL)
		return;
	send_request(thread, WISH_END);
	pthread_join(thread->thread, NULL);
	free_thread(thread);
}
