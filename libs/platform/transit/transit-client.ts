import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { KeyWrapperError } from '#platform/encryption';
import type { TransitSettings } from '#platform/settings';
import { getErrorCode } from '#platform/kernel';
import { createOutboundFetch, type OutboundFetch } from '#platform/outbound';
import { describeLoginRefusal, describeOutage, describeRefusal, type TransitRefusal } from './transit-faults.js';

const MAX_BYTES = 65_536;
const MAX_CREDENTIAL = 16_384;
/** Short, because a process that stops waits for the revocation. */
const REVOCATION_TIMEOUT_MS = 2_000;

const errorBody = z.object({ errors: z.array(z.string()) });
const loginBody = z.object({ auth: z.object({ client_token: z.string().min(1) }) });

type VaultRequest = {
  readonly path: string;
  /** Null for a GET. */
  readonly body: object | null;
  readonly token: string | null;
  readonly signal: AbortSignal | null;
};

/** Sends requests about one key to the transit engine of a Vault or OpenBao. Throws `KeyWrapperError`. */
export class TransitClient {
  private outboundFetch: Promise<OutboundFetch> | null = null;
  private token: string | null = null;

  /** An abort of the signal ends every request except the revocation of a token. */
  constructor(
    private readonly settings: TransitSettings,
    private readonly signal: AbortSignal | null = null,
  ) {}

  /** Forgets the token, and revokes it if a login created it. Never throws. */
  async endSession(): Promise<void> {
    const { token } = this;
    this.token = null;
    // A token from a file belongs to the program that wrote it. One of a login has no other use.
    if (token === null || this.settings.login.method === 'token') return;
    // The signal of the caller is already aborted when the process stops.
    const signal = AbortSignal.timeout(REVOCATION_TIMEOUT_MS);
    // Fails for batch tokens, and for tokens that the last request has used up. They end by themselves.
    await this.post({ path: 'auth/token/revoke-self', body: {}, token, signal }).catch(() => undefined);
  }

  /** Sends a POST, or a GET if the body is null. */
  async call<T>(operation: string, body: object | null, schema: z.ZodType<T>): Promise<T> {
    const { signal } = this;
    const { mount, keyName } = this.settings;
    const token = (this.token ??= await this.logIn());
    const response = await this.post({ path: `${mount}/${operation}/${keyName}`, body, token, signal });
    if (response.status === 200) return this.parse(response, schema);
    // The next attempt reads the file and logs in again.
    if (response.status === 403 && this.token === token) await this.endSession();
    throw describeRefusal(operation, await toRefusal(response), this.settings);
  }

  private async logIn(): Promise<string> {
    const { login } = this.settings;
    const credential = await this.readCredential();
    if (login.method === 'token') return credential;
    const body =
      login.method === 'approle'
        ? { role_id: login.role, secret_id: credential }
        : { role: login.role, jwt: credential };
    const response = await this.post({ path: `auth/${login.mount}/login`, body, token: null, signal: this.signal });
    if (response.status !== 200) throw describeLoginRefusal(await toRefusal(response), this.settings);
    return (await this.parse(response, loginBody)).auth.client_token;
  }

  private async readCredential(): Promise<string> {
    let text: string;
    try {
      text = (await readFile(this.settings.credentialFile, 'utf8')).trim();
    } catch (error) {
      // The message does not contain the path, because some operators put the credential itself there.
      throw new KeyWrapperError(
        'unavailable',
        `CADASTRE_VAULT_CREDENTIAL_FILE: the file cannot be read (${getErrorCode(error) ?? 'unknown reason'}); ` +
          'name a file that this user can read',
      );
    }
    // Headers carry the token.
    if (text.length <= MAX_CREDENTIAL && /^[\x21-\x7E]+$/.test(text)) return text;
    throw new KeyWrapperError(
      'unavailable',
      'CADASTRE_VAULT_CREDENTIAL_FILE: the file must contain one credential of visible ASCII characters',
    );
  }

  private async post({ path, body, token, signal }: VaultRequest): Promise<Response> {
    const { address, namespace } = this.settings;
    const send = await (this.outboundFetch ??= this.openFetch());
    try {
      return await send(`${address}/v1/${path}`, {
        method: body === null ? 'GET' : 'POST',
        headers: {
          ...(body !== null && { 'content-type': 'application/json' }),
          // A proxy of Vault can be configured to require it.
          'x-vault-request': 'true',
          ...(token !== null && { 'x-vault-token': token }),
          ...(namespace !== null && { 'x-vault-namespace': namespace }),
        },
        ...(body !== null && { body: JSON.stringify(body) }),
        signal,
      });
    } catch (error) {
      signal?.throwIfAborted();
      throw describeOutage(error, this.settings);
    }
  }

  private async openFetch(): Promise<OutboundFetch> {
    const { caFile, timeoutMs } = this.settings;
    // Only an administrator of the site chooses the address.
    const options = { privateHosts: null, timeoutMs, maxBytes: MAX_BYTES };
    return createOutboundFetch(caFile === null ? options : { ...options, ca: await readFile(caFile, 'utf8') });
  }

  private async parse<T>(response: Response, schema: z.ZodType<T>): Promise<T> {
    const { success, data } = schema.safeParse(await readJson(response));
    if (success) return data;
    throw new KeyWrapperError(
      'misconfigured',
      `CADASTRE_VAULT_ADDRESS: ${this.settings.address} does not answer like a Vault; correct the address`,
    );
  }
}

const readJson = (response: Response): Promise<unknown> => response.json().catch(() => null);

const toRefusal = async (response: Response): Promise<TransitRefusal> => {
  const { data } = errorBody.safeParse(await readJson(response));
  return { status: response.status, errors: data?.errors.join(' ') ?? '' };
};
