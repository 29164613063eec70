import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { getErrorCode } from '#platform/kernel';

/** Returns one line if the file of a setting cannot be read or parsed. `content` describes what it must contain. */
export const findFileFault = (
  name: string,
  file: string | undefined,
  content: string,
  parse: (text: string) => unknown,
): readonly string[] => {
  if (!file) return [];
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    return [`${name}: the file cannot be read (${getErrorCode(error) ?? 'unknown reason'})`];
  }
  try {
    parse(text);
    return [];
  } catch {
    return [`${name}: the file must contain ${content}`];
  }
};

const PEM_CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;
const PEM_BEGIN = /-----BEGIN /g;

/** Parses all certificates of a PEM file. Throws if there is none, or if a block is damaged or contains something else. */
export const parsePemCertificates = (text: string): readonly X509Certificate[] => {
  const blocks = text.match(PEM_CERTIFICATE) ?? [];
  if (blocks.length === 0 || blocks.length !== text.match(PEM_BEGIN)?.length) {
    throw new Error('the text contains something else than certificates');
  }
  return blocks.map((pem) => new X509Certificate(pem));
};
