/* SPDX-License-Identifier: BSD-3-Clause */
/* What would become of a frame once it is on its way to the wire. */
#include <assert.h>

#include "hw/port.h"
#include "wire/wire.h"

void
shca_device_foretell(struct shca_device *dev, const uint8_t *bytes, uint32_t length,
	struct shca_device_fate *fate)
{
	const struct shca_wire *wire = dev->conf.wire;
	const struct shca_frame frame = { bytes, length };
	struct shca_wire_path path = { .what = "onto the wire" };

	static_assert(SHCA_DEVICE_FATE_MAX == SHCA_WIRE_PATH_MAX, "as many ports");
	if (!dev->has_link)
		path = (struct shca_wire_path){ .what = "the link is down", .is_lost = true };
	else if (wire->ops->explain != NULL)
		wire->ops->explain(wire, &frame, &path);
	*fate = (struct shca_device_fate){ path.what, path.is_lost, { NULL }, path.nb_to };
	for (unsigned int i = 0; i < path.nb_to; i++)
		fate->to[i] = path.to[i];
}
