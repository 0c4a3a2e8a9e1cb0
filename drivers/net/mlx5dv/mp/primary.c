/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages of the primary process to the secondary ones. */
#include <ethdev_driver.h>

#include "mp.h"
#include "primary.h"
#include "state/port.h"
#include "state/port_list.h"

void
mdv_primary_tell_doorbells(uint16_t port_id, int device_fd)
{
	const struct mdv_mp_message message = {
		.kind = MDV_MP_DOORBELLS,
		.port_id = port_id,
	};
	const struct mdv_mp_fds fds = { .fds = { device_fd }, .nb = 1 };

	mdv_mp_tell(&message, &fds);
}

/** @return whether a secondary process has the port attached. */
static bool
set_serves(struct mdv_port *port, bool serves)
{
	bool has_attached;

	if (mdv_port_list_hold(port->dev->data->port_id) == NULL)
		return false;
	port->primary.serves = serves;
	has_attached = port->primary.nb_attached != 0;
	mdv_port_list_release();
	return has_attached;
}

void
mdv_primary_doorbells(struct mdv_port *port)
{
	if (set_serves(port, true))
		mdv_primary_tell_doorbells(port->dev->data->port_id, port->device.ctx->cmd_fd);
}

void
mdv_primary_start(struct mdv_port *port)
{
	const struct mdv_mp_message message = {
		.kind = MDV_MP_START,
		.port_id = port->dev->data->port_id,
	};
	const struct mdv_mp_fds fds = { .fds = { port->device.ctx->cmd_fd }, .nb = 1 };

	if (set_serves(port, true))
		mdv_mp_tell(&message, &fds);
}

void
mdv_primary_stop(struct mdv_port *port)
{
	const struct mdv_mp_message message = {
		.kind = MDV_MP_STOP,
		.port_id = port->dev->data->port_id,
	};

	/* Serve secondaries until all have stopped; then refuse their requests. */
	if (set_serves(port, true))
		mdv_mp_tell(&message, NULL);
	set_serves(port, false);
}

void
mdv_primary_close(struct mdv_port *port)
{
	const struct mdv_mp_message message = {
		.kind = MDV_MP_CLOSED,
		.port_id = port->dev->data->port_id,
	};

	if (set_serves(port, false))
		mdv_mp_tell(&message, NULL);
	port->primary.nb_attached = 0;
}
