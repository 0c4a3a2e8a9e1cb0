/* SPDX-License-Identifier: BSD-3-Clause */
/* A manager without owners, for one datagram: it refuses what asks for one, and ends what is not
 * there. */
#include "ucma/nobody.h"

#include <string.h>

#include "cm/cm.h"
#include "hw/device/device.h"
#include "hw/roce/qp1.h"

/** What is answered. */
struct question {
	struct shca_device *dev;
	bool is_v2;
};

static void
send_answer(void *arg, const struct shca_cm_path *path, const struct shca_mad *mad)
{
	const struct question *question = arg;
	struct shca_qp1_datagram datagram = { .is_v2 = question->is_v2 };

	memcpy(datagram.local, path->local, sizeof(datagram.local));
	memcpy(datagram.remote, path->remote, sizeof(datagram.remote));
	shca_mad_write(mad, datagram.bytes);
	/* One that is lost is asked for again. */
	(void)shca_qp1_send(question->dev, &datagram);
}

/** The reason is the one of an unknown service. */
static void *
refuse(void *arg, struct shca_cm_conn *conn, const struct shca_mad *mad, uint16_t *reason)
{
	(void)arg;
	(void)conn;
	(void)mad;
	(void)reason;
	return NULL;
}

/** No connection has an owner to be told. */
static void
hear(void *arg, void *owner, enum shca_cm_happening what, const struct shca_mad *mad)
{
	(void)arg;
	(void)owner;
	(void)what;
	(void)mad;
}

static void
answer(void *arg, unsigned int device, const struct shca_qp1_datagram *datagram)
{
	struct question question = { arg, datagram->is_v2 };
	const struct shca_cm_ops ops = {
		.send = send_answer, .request = refuse, .event = hear, .arg = &question
	};
	struct shca_cm *cm = shca_cm_create(&ops);
	struct shca_cm_path path = { .port = device };

	if (cm == NULL)
		return;
	memcpy(path.local, datagram->local, sizeof(path.local));
	memcpy(path.remote, datagram->remote, sizeof(path.remote));
	shca_cm_receive(cm, 0, &path, datagram->bytes, sizeof(datagram->bytes));
	shca_cm_destroy(cm);
}

void
shca_nobody_listen(struct shca_device *dev)
{
	shca_qp1_listen(dev, answer, dev);
}
