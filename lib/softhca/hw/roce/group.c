/* SPDX-License-Identifier: BSD-3-Clause */
/* Multicast groups: a copy for each queue pair of one. */
#include "hw/roce/group.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "hw/roce/state.h"

/** A queue pair in a group. */
struct shca_roce_group {
	LIST_ENTRY(shca_roce_group) link;
	uint8_t gid[16];
	struct shca_roce_qp *qp;
};

/** Frames that the cache of flows knows may have got receivers, or lost them. */
static void
renew(struct shca_device *dev)
{
	dev->nb_roce_changes++;
}

int
shca_group_attach(struct shca_roce_qp *qp, const uint8_t gid[16], uint32_t *nb_groups)
{
	struct shca_roce_group *member;
	unsigned int nb = 0;

	LIST_FOREACH (member, &qp->dev->roce_groups, link) {
		if (memcmp(member->gid, gid, sizeof(member->gid)) != 0)
			continue;
		if (member->qp == qp)
			return 0;
		nb++;
	}
	if (nb == SHCA_GROUP_QPS)
		return -ENOMEM;
	member = calloc(1, sizeof(*member));
	if (member == NULL)
		return -ENOMEM;
	memcpy(member->gid, gid, sizeof(member->gid));
	member->qp = qp;
	LIST_INSERT_HEAD(&qp->dev->roce_groups, member, link);
	renew(qp->dev);
	(*nb_groups)++;
	return 0;
}

/** @param gid NULL: any @return of how many groups it was */
static unsigned int
leave(struct shca_roce_qp *qp, const uint8_t *gid)
{
	struct shca_roce_group *member = LIST_FIRST(&qp->dev->roce_groups), *next;
	unsigned int nb = 0;

	for (; member != NULL; member = next) {
		next = LIST_NEXT(member, link);
		if (member->qp != qp ||
			(gid != NULL && memcmp(member->gid, gid, sizeof(member->gid)) != 0))
			continue;
		LIST_REMOVE(member, link);
		free(member);
		nb++;
	}
	renew(qp->dev);
	return nb;
}

int
shca_group_detach(struct shca_roce_qp *qp, const uint8_t gid[16])
{
	return leave(qp, gid) != 0 ? 0 : -EINVAL;
}

unsigned int
shca_group_detach_all(struct shca_roce_qp *qp)
{
	return leave(qp, NULL);
}

/** @return whether the datagram came from the queue pair itself, which does not want its own. */
static bool
is_blocked(const struct shca_roce_qp *qp, const struct shca_roce_path *path,
	const struct shca_bth *bth)
{
	return qp->attr.blocks_own && bth->src_qpn == qp->number &&
		shca_gid_is_own(qp->dev, path->sgid);
}

/** @return whether a frame is a datagram to a group; @p bth borrows it. */
static bool
read_datagram(const struct shca_frame *frame, struct shca_roce_path *path, struct shca_bth *bth)
{
	return shca_roce_read(frame->bytes, frame->length, path, bth) == SHCA_ROCE_GOOD &&
		bth->qpn == SHCA_ROCE_GROUP_QPN && bth->pkey == SHCA_ROCE_PKEY &&
		(bth->opcode & SHCA_BTH_SERVICE_MASK) == SHCA_BTH_UD;
}

bool
shca_group_wants(const struct shca_device *dev, const struct shca_frame *frame)
{
	const struct shca_roce_group *member;
	struct shca_roce_path path;
	struct shca_bth bth;

	if (LIST_EMPTY(&dev->roce_groups) || !read_datagram(frame, &path, &bth))
		return false;
	LIST_FOREACH (member, &dev->roce_groups, link)
		if (memcmp(member->gid, path.dgid, sizeof(member->gid)) == 0)
			return true;
	return false;
}

bool
shca_group_take(struct shca_device *dev, const struct shca_frame *frame)
{
	struct shca_roce_group *member;
	struct shca_roce_path path;
	struct shca_bth bth;
	bool is_wanted = false;

	if (LIST_EMPTY(&dev->roce_groups) || !read_datagram(frame, &path, &bth))
		return false;
	LIST_FOREACH (member, &dev->roce_groups, link) {
		struct shca_roce_qp *qp = member->qp;

		if (memcmp(member->gid, path.dgid, sizeof(member->gid)) != 0)
			continue;
		is_wanted = true;
		if (!qp->is_dead && qp->state >= SHCA_ROCE_RTR && qp->state != SHCA_ROCE_ERROR &&
			!is_blocked(qp, &path, &bth)) {
			dev->nb_done++;
			shca_roce_receive_ud(qp, &path, &bth, frame->bytes);
		}
	}
	return is_wanted;
}
