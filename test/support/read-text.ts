import type { IncomingMessage } from 'node:http';

const hasEnd = ({ headers }: IncomingMessage): boolean => headers['content-type'] !== 'text/event-stream';

/** Reads a response as text. A live stream has no end, so it is closed after its first piece. */
export const readText = (response: IncomingMessage, onText: (text: string) => void): void => {
  let text = '';
  response.setEncoding('utf8');
  response.on('data', (chunk: string) => {
    text += chunk;
    if (hasEnd(response)) return;
    response.destroy();
    onText(text);
  });
  response.once('end', () => onText(text));
};
