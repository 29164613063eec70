import { KeyWrapperError } from '#platform/encryption';
import type { TransitSettings } from '#platform/settings';
import { OutboundError } from '#platform/outbound';

/** What Vault answered: the status, and the texts of its errors, which are only compared. */
export type TransitRefusal = { readonly status: number; readonly errors: string };

const ADDRESS = 'CADASTRE_VAULT_ADDRESS';

/** Describes why a request got no usable response. */
export const describeOutage = (error: unknown, { address }: TransitSettings): KeyWrapperError => {
  if (!(error instanceof OutboundError)) throw error;
  const options = { cause: error };
  switch (error.failure) {
    case 'untrusted-certificate':
      return new KeyWrapperError(
        'misconfigured',
        `CADASTRE_VAULT_CA: ${address} has a certificate that this process does not trust; name the file with the ` +
          'certificate of its authority',
        options,
      );
    case 'timeout':
      return new KeyWrapperError(
        'unavailable',
        `${ADDRESS}: ${address} did not answer in time; start Vault, or raise CADASTRE_VAULT_TIMEOUT_SECONDS`,
        options,
      );
    case 'redirect':
      return new KeyWrapperError(
        'unavailable',
        `${ADDRESS}: ${address} redirects to another address; name the active Vault or its load balancer`,
        options,
      );
    case 'private-address':
    case 'too-large':
    case 'unreachable':
      return new KeyWrapperError(
        'unavailable',
        `${ADDRESS}: ${address} cannot be reached; start Vault, or correct the address`,
        options,
      );
  }
};

const describeUnavailable = ({ status, errors }: TransitRefusal, address: string): KeyWrapperError =>
  new KeyWrapperError(
    'unavailable',
    errors.includes('sealed')
      ? `${ADDRESS}: Vault at ${address} is sealed; unseal it`
      : `${ADDRESS}: Vault at ${address} answered with ${status}; look into its log`,
  );

/** Returns whether a status says that Vault cannot answer at the moment. 472 and 473 are those of standby nodes. */
const isUnavailable = (status: number): boolean => status === 429 || status === 472 || status === 473 || status >= 500;

/** Describes why Vault refused a login. */
export const describeLoginRefusal = (refusal: TransitRefusal, settings: TransitSettings): KeyWrapperError => {
  const { address, login } = settings;
  if (isUnavailable(refusal.status)) return describeUnavailable(refusal, address);
  const mount = login.method === 'token' ? '' : login.mount;
  if (refusal.status === 404) {
    return new KeyWrapperError(
      'misconfigured',
      `CADASTRE_VAULT_NAMESPACE: Vault at ${address} has no auth method at ${mount} there; correct the namespace, or ` +
        'CADASTRE_VAULT_AUTH_MOUNT',
    );
  }
  return new KeyWrapperError(
    'unavailable',
    `CADASTRE_VAULT_CREDENTIAL_FILE: Vault refuses the login at ${mount}; replace the credential in the file, or correct ` +
      'CADASTRE_VAULT_ROLE or CADASTRE_VAULT_AUTH_MOUNT',
  );
};

const SIGNING_OPERATIONS = ['keys', 'sign'];

const OPERATIONS_ON_WRAPPED_KEYS = ['decrypt', 'rewrap'];

/** Describes why Vault refused an operation of the transit engine, such as `decrypt`. */
export const describeRefusal = (
  operation: string,
  refusal: TransitRefusal,
  settings: TransitSettings,
): KeyWrapperError => {
  const { address, mount, keyName } = settings;
  const { status, errors } = refusal;
  if (isUnavailable(status)) return describeUnavailable(refusal, address);
  if (status === 403) return describeForbidden(operation, settings);
  if (SIGNING_OPERATIONS.includes(operation)) {
    return new KeyWrapperError(
      'misconfigured',
      `CADASTRE_VAULT_SIGNING_KEY: the transit engine at ${mount} has no key ${keyName} of the type ed25519; create it, ` +
        'or correct the name',
    );
  }
  if (status === 404) {
    return new KeyWrapperError(
      'misconfigured',
      `CADASTRE_VAULT_TRANSIT_MOUNT: Vault at ${address} has no transit engine at ${mount}; enable it, or correct the ` +
        'mount or CADASTRE_VAULT_NAMESPACE',
    );
  }
  if (errors.includes('key not found')) {
    return new KeyWrapperError(
      'misconfigured',
      `CADASTRE_VAULT_TRANSIT_KEY: the transit engine at ${mount} has no key ${keyName}; create it, or correct the name`,
    );
  }
  if (!OPERATIONS_ON_WRAPPED_KEYS.includes(operation) || errors.includes('not support')) {
    return new KeyWrapperError(
      'misconfigured',
      `CADASTRE_VAULT_TRANSIT_KEY: ${mount}/keys/${keyName} cannot wrap a key; use a key of the type aes256-gcm96`,
    );
  }
  return describeWrongKey(errors, `${mount}/keys/${keyName}`);
};

const describeForbidden = (operation: string, { mount, keyName, login }: TransitSettings): KeyWrapperError => {
  const path = `${mount}/${operation}/${keyName}`;
  const capability = operation === 'keys' ? 'read' : 'update';
  return new KeyWrapperError(
    'unavailable',
    login.method === 'token'
      ? `CADASTRE_VAULT_CREDENTIAL_FILE: Vault refuses the token; renew it, or let its policy permit ${capability} on ${path}`
      : `CADASTRE_VAULT_ROLE: the role at ${login.mount} has no policy that permits ${capability} on ${path}; add one to the ` +
          'role, or correct CADASTRE_VAULT_ROLE',
  );
};

const describeWrongKey = (errors: string, key: string): KeyWrapperError =>
  new KeyWrapperError(
    'wrong-key',
    errors.includes('too old')
      ? `it is wrapped with a version of ${key} below min_decryption_version; lower that, and run cadastre keys rewrap`
      : `${key} of Vault does not decrypt it; it was wrapped with another key, or is damaged`,
  );
