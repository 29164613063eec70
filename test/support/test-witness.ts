import { generateKeyPairSync, hash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import {
  createVerifierKey,
  formatVerifierKey,
  KEY_TYPES,
  parseCheckpoint,
  signNote,
  splitNote,
} from '#packages/trail-verifier';

/** An answer to `add-checkpoint`. */
type WitnessResponse = { readonly status: number; readonly body: string };

/** A witness without a memory, whose answers tests choose. */
export type TestWitness = {
  readonly url: string;
  readonly verifierKey: string;
  /** Returns what a witness answers that has cosigned the note. */
  readonly cosign: (note: string) => WitnessResponse;
  /** Answers a note. Cosigns it unless a test has replaced it. */
  answer: (note: string) => WitnessResponse | Promise<WitnessResponse>;
  /** The checkpoint that it shows; null if it shows none. */
  checkpoint: string | null;
  close(): Promise<void>;
};

export const startTestWitness = async (name: string): Promise<TestWitness> => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const cosign = (note: string): WitnessResponse => {
    const signed = splitNote(note).text;
    const lines = signNote(signed, [{ name, privateKey, cosignedAt: new Date() }]).slice(signed.length + 1);
    return { status: 200, body: lines };
  };
  const respond = async (request: IncomingMessage): Promise<WitnessResponse> => {
    const body = await text(request);
    if (request.url === '/add-checkpoint') return witness.answer(body.slice(body.indexOf('\n\n') + 2));
    const { checkpoint } = witness;
    const path =
      checkpoint !== null && `/${hash('sha256', parseCheckpoint(splitNote(checkpoint).text).origin, 'hex')}/checkpoint`;
    return request.url === path && checkpoint !== null ? { status: 200, body: checkpoint } : { status: 404, body: '' };
  };
  const server = createServer((request, response) => {
    void respond(request).then(
      ({ status, body }) => response.writeHead(status).end(body),
      (error: Error) => response.writeHead(500).end(error.message),
    );
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const witness: TestWitness = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    verifierKey: formatVerifierKey(createVerifierKey(name, publicKey, KEY_TYPES.cosignature)),
    cosign,
    answer: cosign,
    checkpoint: null,
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
  return witness;
};
