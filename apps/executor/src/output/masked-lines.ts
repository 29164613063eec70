import { StringDecoder } from 'node:string_decoder';
import type { SecretMasker } from './secret-masker.js';

/** A line of JSON must arrive as a whole to stay valid. Longer lines are passed on in parts. */
const MAX_LINE_LENGTH = 8 * 1024 * 1024;

type MaskedLinesOptions = {
  readonly masker: SecretMasker;
  readonly write: (text: string) => void;
  /** Gets each line before it is masked. */
  readonly observe?: (line: string) => void;
  readonly maxLineLength?: number;
};

/**
 * Masks a stream of output line by line, so that a secret is found although it arrives in two chunks. Passes on lines as
 * soon as they are complete.
 */
export class MaskedLines {
  private readonly decoder = new StringDecoder('utf8');
  private rest = '';

  constructor(private readonly options: MaskedLinesOptions) {}

  push(chunk: Buffer): void {
    this.add(this.decoder.write(chunk));
  }

  /** Passes on the last line, which may have no end. */
  end(): void {
    this.add(this.decoder.end());
    if (this.rest !== '') this.options.write(this.passLine(this.rest));
    this.rest = '';
  }

  private add(text: string): void {
    const lines = (this.rest + text).split('\n');
    this.rest = lines.pop() ?? '';
    if (lines.length > 0) this.options.write(lines.map((line) => `${this.passLine(line)}\n`).join(''));
    if (this.rest.length > (this.options.maxLineLength ?? MAX_LINE_LENGTH)) this.passPart();
  }

  private passLine(line: string): string {
    this.options.observe?.(line);
    return this.options.masker.maskLine(line);
  }

  /** Keeps as much as the longest secret, which may have begun. */
  private passPart(): void {
    const { masker, write } = this.options;
    const cut = masker.findCut(this.rest, Math.max(0, this.rest.length - masker.longest));
    write(masker.maskText(this.rest.slice(0, cut)));
    this.rest = this.rest.slice(cut);
  }
}
