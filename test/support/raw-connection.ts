import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export type RawAnswer = {
  readonly status: number;
  /** Headers by lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

const HEAD_END = '\r\n\r\n';

const parseHead = (head: string): Omit<RawAnswer, 'body'> => {
  const [statusLine = '', ...lines] = head.split('\r\n');
  const headers = lines.map((line) => line.split(/:\s*/, 2) as [string, string]);
  return {
    status: Number(statusLine.split(' ')[1]),
    headers: Object.fromEntries(headers.map(([name, value]) => [name.toLowerCase(), value])),
  };
};

/** A TCP connection to a test server, for requests that no HTTP client would send. */
export class RawConnection {
  private received = '';
  private readonly socket: Socket;
  /** Resolves when the connection has ended, whether the server closed it or reset it. */
  readonly closed: Promise<void>;

  constructor(url: string) {
    const { hostname, port } = new URL(url);
    this.socket = connect({ host: hostname, port: Number(port), allowHalfOpen: false });
    this.socket.setEncoding('utf8').on('data', (text: string) => (this.received += text));
    // The server may reset the connection. The tests await `closed`.
    this.socket.on('error', () => undefined);
    this.closed = new Promise((resolve) => this.socket.once('close', () => resolve()));
  }

  /** Sends the head of a request. The caller sends the body, if there is one. */
  request(line: string, headers: Readonly<Record<string, string | number>> = {}): this {
    const all = Object.entries({ host: 'localhost', ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
    return this.send(`${line} HTTP/1.1\r\n${all.join('')}\r\n`);
  }

  send(bytes: string | Uint8Array): this {
    this.socket.write(bytes);
    return this;
  }

  /** Sends all pieces. Resolves when the kernel has accepted them, or when the connection has ended. */
  async sendAll(pieces: Iterable<Uint8Array>): Promise<void> {
    for (const piece of pieces) {
      if (this.socket.destroyed) return;
      if (!this.socket.write(piece)) await Promise.race([this.next('drain'), this.closed]);
    }
  }

  /** Stops reading from the server, until `resume`. */
  pause(): this {
    this.socket.pause();
    return this;
  }

  resume(): this {
    this.socket.resume();
    return this;
  }

  /** Resolves to the next response. Rejects if the connection ends before the response is complete. */
  async answer(): Promise<RawAnswer> {
    for (;;) {
      const parsed = this.takeAnswer();
      if (parsed) return parsed;
      if (this.socket.destroyed) throw new Error(`The connection ended after ${JSON.stringify(this.received)}`);
      await Promise.race([this.next('data'), this.closed]);
    }
  }

  destroy(): void {
    this.socket.destroy();
  }

  /** Never rejects: after an error of the socket, `closed` resolves. */
  private async next(event: 'data' | 'drain'): Promise<void> {
    await once(this.socket, event).catch(() => this.closed);
  }

  private takeAnswer(): RawAnswer | null {
    const end = this.received.indexOf(HEAD_END);
    if (end === -1) return null;
    const { status, headers } = parseHead(this.received.slice(0, end));
    const start = end + HEAD_END.length;
    const length = status === 100 || status === 204 ? 0 : Number(headers['content-length'] ?? 0);
    if (Buffer.byteLength(this.received.slice(start)) < length) return null;
    const body = Buffer.from(this.received.slice(start)).subarray(0, length).toString();
    this.received = this.received.slice(start + body.length);
    return { status, headers, body };
  }
}
