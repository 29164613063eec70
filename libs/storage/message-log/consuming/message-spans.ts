import type { KafkaMessage } from 'kafkajs';
import { openSpan } from '#platform/tracing';

type MessageHeaders = Pick<KafkaMessage, 'headers'>;

const getTraceparent = ({ headers = {} }: MessageHeaders): string | undefined => {
  const header = [headers['traceparent']].flat().at(-1);
  return header?.toString();
};

/** Passes messages to their handler, with a span for each message that belongs to a recorded trace. */
export const traceMessages = async <M extends MessageHeaders, R>(
  topic: string,
  messages: readonly M[],
  handle: (messages: readonly (M & { readonly traceparent?: string })[]) => Promise<R>,
): Promise<R> => {
  const attributes = {
    'messaging.system': 'kafka',
    'messaging.destination.name': topic,
    'messaging.operation.name': 'process',
    'messaging.operation.type': 'process',
  };
  const spans = messages.map((message) =>
    openSpan(getTraceparent(message), `process ${topic}`, { kind: 'CONSUMER', attributes }),
  );
  try {
    const results = await handle(
      messages.map((message, n) => {
        const traceparent = spans[n]?.traceparent;
        return traceparent === undefined ? message : { ...message, traceparent };
      }),
    );
    for (const span of spans) span?.end();
    return results;
  } catch (error) {
    for (const span of spans) span?.end(error);
    throw error;
  }
};
