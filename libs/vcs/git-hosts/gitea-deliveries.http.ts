import { createHmac } from 'node:crypto';
import { z } from 'zod';
import type { DeliveryFormat } from './git-host.js';
import { areEqual, getText, parseId, parseJson } from './delivery-fields.http.js';
import { hostText } from './host-texts.js';

const delivery = z.object({ repository: z.object({ full_name: hostText(500) }) });

/** Forgejo also sends the header fields of Gitea. */
export const giteaDeliveries: DeliveryFormat = {
  getId: (headers) => parseId(headers['x-gitea-delivery']),
  isSigned: (headers, body, secret) =>
    areEqual(getText(headers['x-gitea-signature']), createHmac('sha256', secret).update(body).digest('hex')),
  parse: (headers, body) => {
    const event = getText(headers['x-gitea-event']);
    const parsed = delivery.safeParse(parseJson(body));
    return parsed.success && /^\w{1,100}$/.test(event) ? { event, identifier: parsed.data.repository.full_name } : null;
  },
};
