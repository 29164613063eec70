import { z } from 'zod';
import { areEqual, getText, parseId, parseJson } from './delivery-fields.http.js';
import type { DeliveryFormat } from './git-host.js';
import { hostText } from './host-texts.js';

const delivery = z.object({
  object_kind: z.string().regex(/^\w{1,100}$/),
  project: z.object({ path_with_namespace: hostText(500) }),
});

export const gitlabDeliveries: DeliveryFormat = {
  getId: (headers) => parseId(headers['idempotency-key'] ?? headers['x-gitlab-event-uuid']),
  // The host sends the secret itself.
  isSigned: (headers, _, secret) => areEqual(getText(headers['x-gitlab-token']), secret),
  parse: (_, body) => {
    const parsed = delivery.safeParse(parseJson(body));
    return parsed.success
      ? { event: parsed.data.object_kind, identifier: parsed.data.project.path_with_namespace }
      : null;
  },
};
