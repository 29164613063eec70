import { createHmac, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import type { DeliveryFormat } from './git-host.js';
import { hostText } from './host-texts.js';

const delivery = z.object({ repository: z.object({ full_name: hostText(500) }) });

const getText = (value: string | string[] | undefined): string => (typeof value === 'string' ? value : '');

/** Returns whether both texts are equal, after a time that depends only on their length. */
const areEqual = (one: string, other: string): boolean => {
  const [left, right] = [Buffer.from(one), Buffer.from(other)];
  return left.length === right.length && timingSafeEqual(left, right);
};

const parseJson = (body: Buffer): unknown => {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return null;
  }
};

/** Forgejo also sends the header fields of Gitea. */
export const giteaDeliveries: DeliveryFormat = {
  getId: (headers) => {
    const id = getText(headers['x-gitea-delivery']);
    return /^[\w-]{1,100}$/.test(id) ? id : null;
  },
  isSigned: (headers, body, secret) =>
    areEqual(getText(headers['x-gitea-signature']), createHmac('sha256', secret).update(body).digest('hex')),
  parse: (headers, body) => {
    const event = getText(headers['x-gitea-event']);
    const parsed = delivery.safeParse(parseJson(body));
    return parsed.success && /^\w{1,100}$/.test(event) ? { event, identifier: parsed.data.repository.full_name } : null;
  },
};
