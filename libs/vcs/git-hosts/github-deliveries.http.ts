import { createHmac } from 'node:crypto';
import { z } from 'zod';
import { areEqual, getText, parseId, parseJson } from './delivery-fields.http.js';
import type { DeliveryFormat } from './git-host.js';
import { hostText } from './host-texts.js';

const delivery = z.object({ repository: z.object({ full_name: hostText(500) }) });

export const githubDeliveries: DeliveryFormat = {
  getId: (headers) => parseId(headers['x-github-delivery']),
  isSigned: (headers, body, secret) =>
    areEqual(
      getText(headers['x-hub-signature-256']),
      `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
    ),
  parse: (headers, body) => {
    const event = getText(headers['x-github-event']);
    const parsed = delivery.safeParse(parseJson(body));
    return parsed.success && /^\w{1,100}$/.test(event) ? { event, identifier: parsed.data.repository.full_name } : null;
  },
};
