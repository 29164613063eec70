import type { AddressInfo } from 'node:net';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { expectStatus, resource } from './seeds.js';
import type { ApiTestClient } from './server.js';

/** A message that the server has accepted. */
type ReceivedMail = {
  /** The recipients of the envelope. */
  readonly to: readonly string[];
  readonly from: string;
  readonly user: string | null;
  readonly isEncrypted: boolean;
  /** As sent: headers, an empty line and the bodies. */
  readonly source: string;
};

type MailServerAnswers = {
  /** Status and text for a recipient; null accepts it. */
  readonly recipient: (address: string) => readonly [number, string] | null;
  /** Status and text for a message; null accepts it. `silent` never answers. */
  readonly message: () => readonly [number, string] | 'silent' | null;
};

export type TestMailServer = {
  readonly port: number;
  readonly received: ReceivedMail[];
  /** Replaces answers from now on. Without a reset, everything is accepted. */
  answer(answers: Partial<MailServerAnswers>): void;
  reset(): void;
  close(): Promise<void>;
};

const ACCEPT_ALL: MailServerAnswers = { recipient: () => null, message: () => null };

const toError = (answer: readonly [number, string] | null): Error | null =>
  answer && Object.assign(new Error(answer[1]), { responseCode: answer[0] });

/** Starts an SMTP server on 127.0.0.1 that records what it accepts. Without options it has neither TLS nor passwords. */
export const startMailServer = async (
  options: SMTPServerOptions = { disabledCommands: ['AUTH', 'STARTTLS'] },
): Promise<TestMailServer> => {
  const received: ReceivedMail[] = [];
  let answers = ACCEPT_ALL;
  const server = new SMTPServer({
    closeTimeout: 1,
    ...options,
    onRcptTo: ({ address }, _, callback) => callback(toError(answers.recipient(address))),
    onData: (stream, session, callback) => {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope;
        const answer = answers.message();
        // The message has arrived, whether or not the client gets an answer.
        if (answer === null || answer === 'silent') {
          received.push({
            to: rcptTo.map(({ address }) => address),
            from: mailFrom ? mailFrom.address : '',
            user: session.user === undefined ? null : String(session.user),
            isEncrypted: session.secure,
            source: Buffer.concat(chunks).toString('utf8'),
          });
        }
        if (answer !== 'silent') callback(toError(answer));
      });
    },
  });
  // Clients that give up reset their connections.
  server.on('error', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.server.address() as AddressInfo).port,
    received,
    answer: (changed) => (answers = { ...answers, ...changed }),
    reset: () => {
      answers = ACCEPT_ALL;
      received.length = 0;
    },
    close: () => new Promise((resolve) => server.close(resolve)),
  };
};

/** Returns the value of a header, with its lines joined; undefined without the header. */
export const getMailHeader = ({ source }: ReceivedMail, name: string): string | undefined => {
  const [headers = ''] = source.split('\r\n\r\n');
  const lines = headers.replaceAll(/\r\n[ \t]+/g, ' ').split('\r\n');
  return lines
    .find((line) => line.toLowerCase().startsWith(`${name.toLowerCase()}:`))
    ?.slice(name.length + 1)
    .trim();
};

/** The settings with which a test server sends e-mails to this server. */
export const toMailSettings = ({ port }: TestMailServer) => ({
  CADASTRE_SMTP_URL: `smtp://127.0.0.1:${port}`,
  CADASTRE_SMTP_TLS: 'off',
  CADASTRE_SMTP_FROM: 'Cadastre <cadastre@example.com>',
});

/** Returns the body of a request for a configuration by e-mail. */
export const newMailConfiguration = (name: string, users: readonly string[], attributes: object = {}): object =>
  resource(
    'notification-configurations',
    { name, 'destination-type': 'email', enabled: true, ...attributes },
    { users: { data: users.map((id) => ({ type: 'users', id })) } },
  );

/** Creates a configuration by e-mail. `owner` is a path such as `workspaces/ws-1`. */
export const makeMailConfiguration = async (
  api: ApiTestClient,
  owner: string,
  users: readonly string[],
  attributes: object = {},
): Promise<string> => {
  const body = newMailConfiguration('mails', users, attributes);
  return expectStatus(await api.post(`/api/v2/${owner}/notification-configurations`, body), 201).body.data.id as string;
};
