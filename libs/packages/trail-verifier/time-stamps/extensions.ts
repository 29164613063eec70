import { DER, DerReader } from './der.js';

export type DerExtension = { readonly isCritical: boolean; readonly value: Buffer };

/** Parses one extension of a certificate or of a time stamp (RFC 5280, section 4.1). */
export const parseExtension = (bytes: Buffer): readonly [id: string, extension: DerExtension] => {
  const extension = DerReader.open(bytes);
  const id = extension.objectId();
  const isCritical = extension.optional(DER.boolean)?.[0] === 0xff;
  return [id, { isCritical, value: extension.content(DER.octetString) }];
};
