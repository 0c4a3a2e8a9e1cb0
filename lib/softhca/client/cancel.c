/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/cancel.h"

#include <pthread.h>

int
shca_cancel_disable(void)
{
	int before;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
	return before;
}

void
shca_cancel_restore(int before)
{
	pthread_setcancelstate(before, &before);
}
