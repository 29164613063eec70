import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { DER, DerReader, encodeDer } from '../../libs/packages/trail-verifier/time-stamps/der.js';
import { requirePrograms } from './programs.js';

const run = promisify(execFile);

export const AUTHORITY_POLICY = '1.2.3.4.1';
export const OTHER_POLICY = '1.2.3.4.5';

const TIME_STAMP_INFO = '1.2.840.113549.1.9.16.1.4';

const CONFIGURATION = `
[req]
distinguished_name = name
[name]
[ca]
default_ca = ca_default
[ca_default]
database = index.txt
new_certs_dir = .
rand_serial = yes
default_md = sha256
policy = any
unique_subject = no
[any]
commonName = supplied
[authority]
basicConstraints = critical,CA:TRUE
keyUsage = critical,keyCertSign
subjectKeyIdentifier = hash
[stamps]
basicConstraints = CA:FALSE
extendedKeyUsage = critical,timeStamping
subjectKeyIdentifier = hash
[servers]
basicConstraints = CA:FALSE
extendedKeyUsage = serverAuth
[strange]
extendedKeyUsage = critical,timeStamping
nameConstraints = critical,permitted;DNS:example.com
[encrypts]
extendedKeyUsage = critical,timeStamping
keyUsage = critical,digitalSignature,keyEncipherment
[signs]
extendedKeyUsage = critical,timeStamping
keyUsage = critical,digitalSignature,nonRepudiation
[tsa]
default_tsa = tsa_config
[tsa_config]
serial = serial
signer_digest = sha256
default_policy = ${AUTHORITY_POLICY}
other_policies = ${OTHER_POLICY}
digests = sha256
accuracy = secs:1
tsa_name = yes
ess_cert_id_alg = sha256
`;

type AuthorityAnswer = { readonly status?: number; readonly headers?: Record<string, string>; readonly body: Buffer };

/** The certificates of an authority: `stamps`, `signs` and `issued` (below an intermediate one) are right, the others are wrong. */
type SignerName =
  'stamps' | 'signs' | 'issued' | 'expired' | 'foreign' | 'servers' | 'strange' | 'weak' | 'encrypts' | 'below-weak';

/** A time stamp authority with `openssl ts`, behind HTTP. Tests can replace its answer. */
export type TestTimeStampAuthority = {
  readonly url: string;
  /** The file with its root certificate. */
  readonly caFile: string;
  /** The requests since the start. */
  readonly requests: Buffer[];
  /** Returns the answer of `openssl ts`. */
  readonly reply: (request: Buffer, ...options: readonly string[]) => Promise<Buffer>;
  /** Returns the signed content of an answer. */
  readonly readInfo: (response: Buffer) => Promise<Buffer>;
  /** Returns an answer with this content. */
  readonly signInfo: (info: Buffer, signer: SignerName, ...options: readonly string[]) => Promise<Buffer>;
  /** Returns an answer whose content somebody else has signed. */
  readonly signAs: (response: Buffer, signer: SignerName, ...options: readonly string[]) => Promise<Buffer>;
  /** Returns the output of `openssl ts -verify`. */
  readonly verify: (stamped: Buffer, response: Buffer, caFile?: string) => Promise<string>;
  answer: (request: Buffer) => AuthorityAnswer | Promise<AuthorityAnswer>;
  close(): Promise<void>;
};

/** Runs openssl in a folder with the configuration and the certificates. */
class Certificates {
  constructor(readonly folder: string) {}

  openssl(...options: readonly string[]) {
    return run('openssl', options, { cwd: this.folder, env: { ...process.env, OPENSSL_CONF: 'openssl.cnf' } });
  }

  async createRoot(name: string): Promise<void> {
    const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', `${name}.key`];
    const subject = ['-subj', `/CN=${name}`, '-extensions', 'authority', '-out', `${name}.pem`];
    await this.openssl('req', '-x509', ...key, ...subject);
  }

  async issue(name: string, issuer: string, extensions: string, key: readonly string[], end = '20490101000000Z') {
    const names = ['-nodes', '-keyout', `${name}.key`, '-subj', `/CN=${name}`, '-out', `${name}.csr`];
    await this.openssl('req', '-newkey', ...key, ...names);
    const period = ['-startdate', '20200101000000Z', '-enddate', end];
    const files = ['-cert', `${issuer}.pem`, '-keyfile', `${issuer}.key`, '-in', `${name}.csr`, '-out', `${name}.pem`];
    await this.openssl('ca', '-batch', '-notext', '-extensions', extensions, ...period, ...files);
  }
}

const RSA = ['rsa:2048'];
const EC = ['ec', '-pkeyopt', 'ec_paramgen_curve:P-256'];

const createCertificates = async (folder: string): Promise<Certificates> => {
  await writeFile(join(folder, 'openssl.cnf'), CONFIGURATION);
  await writeFile(join(folder, 'index.txt'), '');
  await writeFile(join(folder, 'serial'), '01');
  const certificates = new Certificates(folder);
  await certificates.createRoot('root');
  await certificates.createRoot('other');
  await certificates.issue('between', 'root', 'authority', EC);
  await certificates.issue('stamps', 'root', 'stamps', RSA);
  await certificates.issue('issued', 'between', 'stamps', EC);
  await certificates.issue('expired', 'root', 'stamps', EC, '20210101000000Z');
  await certificates.issue('foreign', 'other', 'stamps', EC);
  await certificates.issue('servers', 'root', 'servers', EC);
  await certificates.issue('strange', 'root', 'strange', EC);
  await certificates.issue('signs', 'root', 'signs', EC);
  await certificates.issue('encrypts', 'root', 'encrypts', EC);
  await certificates.issue('between-weak', 'root', 'authority', ['rsa:1024']);
  await certificates.issue('below-weak', 'between-weak', 'stamps', EC);
  await certificates.issue('weak', 'root', 'stamps', ['rsa:1024']);
  return certificates;
};

/** Returns the token in an answer, and an answer with a token. */
const getToken = (response: Buffer): Buffer => DerReader.open(response).all()[1] ?? Buffer.alloc(0);
const wrapToken = (token: Buffer): Buffer =>
  encodeDer(DER.sequence, encodeDer(DER.sequence, encodeDer(DER.integer, Buffer.of(0))), token);

export const startTimeStampAuthority = async (): Promise<TestTimeStampAuthority> => {
  requirePrograms('openssl');
  const folder = await mkdtemp(join(tmpdir(), 'cadastre-time-stamps-'));
  const certificates = await createCertificates(folder);
  let files = 0;
  const createFile = async (content: Buffer): Promise<string> => {
    const file = join(folder, `${(files += 1)}.in`);
    await writeFile(file, content);
    return file;
  };
  const reply = async (request: Buffer, ...options: readonly string[]): Promise<Buffer> => {
    const out = `${await createFile(request)}.out`;
    const signer = ['-signer', 'stamps.pem', '-inkey', 'stamps.key'];
    await certificates.openssl('ts', '-reply', ...signer, '-queryfile', out.slice(0, -4), '-out', out, ...options);
    return readFile(out);
  };
  const signInfo = async (info: Buffer, name: SignerName, ...options: readonly string[]): Promise<Buffer> => {
    const file = await createFile(info);
    const content = ['-in', file, '-econtent_type', TIME_STAMP_INFO, '-binary', '-nodetach', '-cades'];
    const signer = ['-signer', `${name}.pem`, '-inkey', `${name}.key`];
    const out = `${file}.out`;
    await certificates.openssl('cms', '-sign', ...content, ...signer, '-outform', 'DER', '-out', out, ...options);
    return wrapToken(await readFile(out));
  };
  const readInfo = async (response: Buffer): Promise<Buffer> => {
    const token = await createFile(getToken(response));
    await certificates.openssl('cms', '-verify', '-inform', 'DER', '-in', token, '-noverify', '-out', `${token}.info`);
    return readFile(`${token}.info`);
  };
  const verify = async (stamped: Buffer, response: Buffer, caFile = 'root.pem'): Promise<string> => {
    const [data, stamp] = [await createFile(stamped), await createFile(response)];
    const { stdout } = await certificates.openssl('ts', '-verify', '-data', data, '-in', stamp, '-CAfile', caFile);
    return stdout.trim();
  };
  const requests: Buffer[] = [];
  const respond = async (request: IncomingMessage): Promise<AuthorityAnswer> => {
    const body = await buffer(request);
    requests.push(body);
    return authority.answer(body);
  };
  const server = createServer((request, response) => {
    void respond(request).then(
      ({ status = 200, headers, body }) =>
        response.writeHead(status, { 'content-type': 'application/timestamp-reply', ...headers }).end(body),
      (error: Error) => response.writeHead(500).end(error.message),
    );
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const authority: TestTimeStampAuthority = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/tsa`,
    caFile: join(folder, 'root.pem'),
    requests,
    reply,
    readInfo,
    signInfo,
    signAs: async (response, ...signer) => signInfo(await readInfo(response), ...signer),
    verify,
    answer: async (request) => ({ body: await reply(request) }),
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
      await rm(folder, { recursive: true, force: true });
    },
  };
  return authority;
};
