/* SPDX-License-Identifier: BSD-3-Clause */
/* One lock for all ports: a thread that holds one port keeps all of them from being removed. */
#include <pthread.h>
#include <stddef.h>

#include <ethdev_driver.h>

#include "port.h"
#include "port_list.h"

static struct {
	pthread_mutex_t lock;
	struct mdv_port *ports[RTE_MAX_ETHPORTS];
} port_list = { .lock = PTHREAD_MUTEX_INITIALIZER };

void
mdv_port_list_add(struct mdv_port *port)
{
	pthread_mutex_lock(&port_list.lock);
	port_list.ports[port->dev->data->port_id] = port;
	pthread_mutex_unlock(&port_list.lock);
}

void
mdv_port_list_remove(struct mdv_port *port)
{
	struct mdv_port **place = &port_list.ports[port->dev->data->port_id];

	pthread_mutex_lock(&port_list.lock);
	if (*place == port)
		*place = NULL;
	pthread_mutex_unlock(&port_list.lock);
}

struct mdv_port *
mdv_port_list_hold(uint32_t port_id)
{
	struct mdv_port *port;

	pthread_mutex_lock(&port_list.lock);
	port = port_id < RTE_MAX_ETHPORTS ? port_list.ports[port_id] : NULL;
	if (port == NULL)
		pthread_mutex_unlock(&port_list.lock);
	return port;
}

void
mdv_port_list_release(void)
{
	pthread_mutex_unlock(&port_list.lock);
}
