import { readFile } from 'node:fs/promises';
import https from 'node:https';
import tls from 'node:tls';
import type { HelperEnvironment } from './credential-store.js';

const TIMEOUT_MS = 10_000;
const MAX_ANSWER = 64 * 1024;

type Answer = { readonly status: number; readonly text: string };

/** Returns the authorities that terraform trusts too: those of the computer, and those in the file of SSL_CERT_FILE. */
const listAuthorities = async ({ SSL_CERT_FILE: file }: HelperEnvironment): Promise<string[]> => [
  ...tls.getCACertificates('default'),
  ...tls.getCACertificates('system'),
  ...(file ? [await readFile(file, 'utf8')] : []),
];

/** Sends a request, and follows no redirect, because it can contain a token. */
const send = (url: URL, authorities: string[], form: URLSearchParams | null): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const headers = form ? { 'content-type': 'application/x-www-form-urlencoded' } : {};
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const options = { method: form ? 'POST' : 'GET', headers, ca: authorities, agent: false, signal };
    const request = https.request(url, options, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (piece: string) => {
        text += piece;
        if (text.length > MAX_ANSWER) response.destroy(new Error('the answer is too long'));
      });
      response.once('end', () => resolve({ status: response.statusCode ?? 0, text }));
      response.once('error', reject);
    });
    request.once('error', reject);
    request.end(form?.toString());
  });

const parseObject = (text: string): Readonly<Record<string, unknown>> => {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
};

/** Returns the address for revocations that the server announces (RFC 8414). */
const findEndpoint = async (host: string, authorities: string[]): Promise<URL> => {
  const issuer = new URL(`https://${host}`).origin;
  const answer = await send(new URL('/.well-known/oauth-authorization-server', issuer), authorities, null);
  if (answer.status !== 200) throw new Error(`it announces no address for revocations (status ${answer.status})`);
  const metadata = parseObject(answer.text);
  if (metadata['issuer'] !== issuer) throw new Error(`it calls itself ${JSON.stringify(metadata['issuer'])}`);
  const endpoint = URL.parse(String(metadata['revocation_endpoint']));
  if (endpoint?.origin !== issuer) throw new Error('its address for revocations is on another host');
  return endpoint;
};

/**
 * Revokes a token at the server of the host (RFC 7009). Resolves to null, or to the reason why the token may still be
 * valid.
 */
export const revokeToken = async (host: string, token: string, env: HelperEnvironment): Promise<string | null> => {
  try {
    const authorities = await listAuthorities(env);
    const endpoint = await findEndpoint(host, authorities);
    const form = new URLSearchParams({ token, token_type_hint: 'access_token', client_id: 'terraform-cli' });
    const { status, text } = await send(endpoint, authorities, form);
    if (status === 200) return null;
    const { error_description: description } = parseObject(text);
    return `it answered with status ${status}${typeof description === 'string' ? `: ${description}` : ''}`;
  } catch (error) {
    // The error of several failed addresses has no message.
    const { message, code } = error as NodeJS.ErrnoException;
    return message || code || 'it cannot be reached';
  }
};
