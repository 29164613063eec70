import type { IHeaders } from 'kafkajs';

/** A message to send, with text for events of the log, or with the received bytes. */
export type OutgoingMessage = {
  readonly topic: string;
  readonly key: string | Buffer | null;
  readonly value: string | Buffer | null;
  readonly headers: Readonly<IHeaders>;
  /** Default: the present time. */
  readonly timestamp?: string;
};
