import { z } from 'zod';
import { matchingSchema, parseUrl, wholeNumberSchema } from './variable-schemas.js';
import { defineVariable } from './variable.js';

const isAuthorityUrl = (text: string): boolean => {
  const url = parseUrl(text);
  if (!url || !['http:', 'https:'].includes(url.protocol)) return false;
  return url.username === '' && url.password === '' && url.hash === '';
};

/** Variables that describe the authority that stamps checkpoints of the log of the site. */
export const timeStampVariables = {
  CADASTRE_TIME_STAMP_URL: defineVariable(
    '–',
    'address of a time stamp authority (RFC 3161) that stamps checkpoints of the log of the site; http:// is safe, because the ' +
      'authority signs its answers',
    matchingSchema(
      isAuthorityUrl,
      'must be http:// or https:// with a host, without user, password or fragment',
    ).exactOptional(),
  ),
  CADASTRE_TIME_STAMP_CA: defineVariable(
    '–',
    'file with the certificates (PEM) of the authorities that issue the certificate of the time stamp authority, root first; ' +
      'required with CADASTRE_TIME_STAMP_URL',
    z.string().exactOptional(),
  ),
  CADASTRE_TIME_STAMP_POLICY: defineVariable(
    '–',
    'object identifier of the policy that time stamps must have, such as 1.2.3.4.1; by default, that of the authority',
    matchingSchema(
      (text) => text.length <= 100 && /^[0-2](?:\.(?:0|[1-9]\d{0,8})){2,15}$/.test(text),
      'must be an object identifier such as 1.2.3.4.1',
    ).exactOptional(),
  ),
  CADASTRE_TIME_STAMP_HOURS: defineVariable(
    '24',
    'hours between two time stamps, if the log of the site has a new checkpoint',
    wholeNumberSchema(1, 720, 24),
  ),
} as const;
