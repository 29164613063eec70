import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { getMailHeader, startMailServer, type TestMailServer } from '../../../test/support/mail-server.js';
import { issueCa, issueServerCertificate } from '../host/certificates/certificates.js';
import { createMailer, type MailOutcome, type MailServer, type OutgoingMail } from './index.js';
import { toMailAddress } from './mailer.js';

const PASSWORD = 'p:ss/w@rd';
const credentials = { user: 'cadastre', password: PASSWORD };
const from = { name: 'Cadastre', address: 'cadastre@example.com' };
const before = getCACertificates('default');

let plain: TestMailServer;
let secured: TestMailServer;
let implicit: TestMailServer;
let untrusted: TestMailServer;

beforeAll(async () => {
  const now = new Date();
  const ca = await issueCa(now);
  const { certificate: cert, key } = await issueServerCertificate(ca, ['localhost', '127.0.0.1'], now);
  const other = await issueServerCertificate(await issueCa(now), ['localhost'], now);
  setDefaultCACertificates([...before, ca.certificate]);
  const onAuth: NonNullable<Parameters<typeof startMailServer>[0]>['onAuth'] = ({ username, password }, _, callback) =>
    username === credentials.user && password === PASSWORD
      ? callback(null, { user: username })
      : callback(Object.assign(new Error(`no ${password ?? ''}`), { responseCode: 535 }));
  plain = await startMailServer();
  secured = await startMailServer({ cert, key, onAuth });
  implicit = await startMailServer({ cert, key, onAuth, secure: true });
  untrusted = await startMailServer({ cert: other.certificate, key: other.key, authOptional: true });
});
afterEach(() => [plain, secured, implicit, untrusted].forEach((server) => server.reset()));
afterAll(async () => {
  setDefaultCACertificates(before);
  await Promise.all([plain, secured, implicit, untrusted].map((server) => server.close()));
});

const serverAt = (port: number, more: Partial<MailServer> = {}): MailServer => ({
  host: 'localhost',
  port,
  tls: 'off',
  credentials: null,
  from,
  timeoutMs: 10_000,
  ...more,
});

const mailTo = (...recipients: readonly string[]): OutgoingMail => ({
  messageId: 'nd-1@cadastre.example.com',
  recipients,
  subject: 'Run Applied',
  text: 'text',
  html: '<p>html</p>',
  date: new Date('2026-01-31T12:30:15.000Z'),
  headers: { 'Auto-Submitted': 'auto-generated' },
});

const send = (server: MailServer, ...recipients: readonly string[]): Promise<MailOutcome> =>
  createMailer(server)(mailTo(...(recipients.length > 0 ? recipients : ['ada@people.test'])));

describe('a message', () => {
  it('reaches all recipients, and shows none of them to the others', async () => {
    const outcome = await send(serverAt(plain.port), 'ada@people.test', 'bob@people.test');
    expect(outcome).toEqual({ accepted: ['ada@people.test', 'bob@people.test'], refused: [], failure: null });
    const [mail, ...others] = plain.received;
    if (!mail) throw new Error('no message');
    expect(others).toEqual([]);
    expect(mail).toMatchObject({ to: ['ada@people.test', 'bob@people.test'], from: 'cadastre@example.com' });
    expect(mail.source).not.toContain('people.test');
    const headers = ['From', 'To', 'Subject', 'Message-ID', 'Auto-Submitted', 'Date'];
    expect(headers.map((name) => getMailHeader(mail, name))).toEqual([
      'Cadastre <cadastre@example.com>',
      '"undisclosed-recipients":;',
      'Run Applied',
      '<nd-1@cadastre.example.com>',
      'auto-generated',
      'Sat, 31 Jan 2026 12:30:15 +0000',
    ]);
  });

  it('is sent with TLS and password, from the start or by STARTTLS', async () => {
    for (const [server, tls] of [
      [secured, 'starttls'],
      [implicit, 'implicit'],
    ] as const) {
      expect((await send(serverAt(server.port, { tls, credentials }))).failure).toBeNull();
      expect(server.received).toMatchObject([{ user: 'cadastre', isEncrypted: true }]);
    }
  });

  it('is not sent to a server that offers no TLS, or whose certificate is not trusted', async () => {
    const noTls = await send(serverAt(plain.port, { tls: 'starttls', credentials }));
    expect(noTls.failure).toMatchObject({ reason: 'no-tls', isPermanent: false });
    const wrong = await send(serverAt(untrusted.port, { tls: 'starttls' }));
    expect(wrong.failure).toMatchObject({ reason: 'untrusted-certificate', isPermanent: false });
    expect([...plain.received, ...untrusted.received]).toEqual([]);
  });

  it('is tried again after a wrong password, which no text contains', async () => {
    const outcome = await send(
      serverAt(secured.port, { tls: 'starttls', credentials: { user: 'cadastre', password: 'wrong-word' } }),
    );
    expect(outcome.failure).toMatchObject({ reason: 'credentials', isPermanent: false });
    expect(JSON.stringify(outcome)).not.toContain('wrong-word');
  });

  it('reaches the other recipients if one is refused, and the outcome says which refusals are permanent', async () => {
    plain.answer({
      recipient: (address) => {
        if (address.startsWith('gone')) return [550, `5.1.1 <${address}> is unknown`];
        return address.startsWith('full') ? [452, '4.2.2 mailbox full'] : null;
      },
    });
    const outcome = await send(serverAt(plain.port), 'ada@people.test', 'gone@people.test', 'full@people.test');
    expect(outcome).toEqual({
      accepted: ['ada@people.test'],
      refused: [
        { address: 'gone@people.test', code: '550', text: '550 5.1.1 <[address]> is unknown', isPermanent: true },
        { address: 'full@people.test', code: '452', text: '452 4.2.2 mailbox full', isPermanent: false },
      ],
      failure: null,
    });
    const none = await send(serverAt(plain.port), 'gone@people.test');
    expect(none).toMatchObject({ accepted: [], refused: [{ code: '550', isPermanent: true }], failure: null });
  });

  it.each([
    [451, false],
    [554, true],
  ])('that is refused with %i fails, for good: %p', async (status, isPermanent) => {
    plain.answer({ message: () => [status, 'not this one, ada@people.test'] });
    const { accepted, failure } = await send(serverAt(plain.port));
    expect(accepted).toEqual([]);
    const text = expect.stringContaining('not this one, [address]');
    expect(failure).toEqual({ code: String(status), reason: 'refused', text, isPermanent });
  });

  it('fails if the server is away, and if it never answers', async () => {
    const away = await send(serverAt(1, { host: '127.0.0.1' }));
    expect(away.failure).toEqual({
      code: '',
      reason: 'unreachable',
      text: 'The mail server could not be reached',
      isPermanent: false,
    });
    plain.answer({ message: () => 'silent' });
    expect((await send(serverAt(plain.port, { timeoutMs: 200 }))).failure).toMatchObject({
      code: '',
      reason: 'timeout',
    });
  });

  it('is aborted by its caller', async () => {
    const aborted = createMailer(serverAt(plain.port))(mailTo('ada@people.test'), AbortSignal.abort(new Error('stop')));
    await expect(aborted).rejects.toThrow('stop');
  });
});

describe('a server that answers slowly for ever', () => {
  let dripping: Server;
  const sockets = new Set<Socket>();
  beforeAll(async () => {
    dripping = createServer((socket) => {
      sockets.add(socket);
      // A greeting that never ends keeps the connection active.
      const timer = setInterval(() => socket.write('220-wait\r\n'), 20);
      socket.on('error', () => undefined);
      socket.on('close', () => clearInterval(timer));
    });
    await new Promise<void>((resolve) => dripping.listen(0, '127.0.0.1', resolve));
  });
  afterAll(async () => {
    sockets.forEach((socket) => socket.destroy());
    await new Promise((resolve) => dripping.close(resolve));
  });

  it('gets the time of one message only', async () => {
    const { port } = dripping.address() as AddressInfo;
    const { failure } = await send(serverAt(port, { host: '127.0.0.1', timeoutMs: 200 }));
    expect(failure).toMatchObject({ reason: 'timeout' });
  });
});

describe('an address', () => {
  it.each([
    ['ada@example.com', 'ada@example.com'],
    ['Ada.L+x@Example.COM', 'Ada.L+x@example.com'],
    ['ada@bücher.example', 'ada@xn--bcher-kva.example'],
    ['adä@example.com', 'adä@example.com'],
  ])('%s is usable', (address, expected) => expect(toMailAddress(address)).toBe(expected));

  it.each([
    'a,b@example.com',
    'ada@example.com,eve@example.com',
    '"ada"@example.com',
    'ada(eve@example.com)@example.com',
    'Ada<ada@example.com',
    'ada;eve@example.com',
    'ada@example.com>',
    'ada@[127.0.0.1]',
    'ada@exa_mple.com',
    'ada\r\nRCPT@example.com',
    'ada@example.com\r\nDATA',
    'ada@0x7f.1',
    'ada@%65xample.com',
    '@example.com',
    'ada',
  ])('%j is not usable, and gets nothing', async (address) => {
    expect(toMailAddress(address)).toBeNull();
    expect(await send(serverAt(plain.port), address)).toEqual({
      accepted: [],
      refused: [{ address, code: '', text: 'The address cannot be used', isPermanent: true }],
      failure: null,
    });
    expect(plain.received).toEqual([]);
  });

  it('of an international domain is reached, beside addresses that cannot be used', async () => {
    const outcome = await send(serverAt(plain.port), 'ada@bücher.example', 'a,b@example.com');
    expect(outcome).toMatchObject({ accepted: ['ada@bücher.example'], refused: [{ address: 'a,b@example.com' }] });
    // The server shows ASCII domains in Unicode.
    expect(plain.received[0]?.to).toEqual(['ada@bücher.example']);
  });
});
