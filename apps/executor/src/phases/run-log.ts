import type { LogUpload } from '../output/log-upload.js';
import { MaskedLines } from '../output/masked-lines.js';
import type { SecretMasker } from '../output/secret-masker.js';
import type { OutputSink } from './command-runner.js';

/** The log of a phase: masked output of commands, and lines of the executor in the same format. */
export class RunLog {
  constructor(
    private readonly upload: LogUpload,
    readonly masker: SecretMasker,
    private readonly isStructured: boolean,
    private readonly now: () => Date,
  ) {}

  /** Returns a sink for one stream of a command. `observe` gets its lines before they are masked. */
  createSink(observe: (line: string) => void = () => undefined): OutputSink {
    const lines = new MaskedLines({ masker: this.masker, write: (text) => this.upload.write(text), observe });
    return {
      push: (chunk) => {
        lines.push(chunk);
        return this.upload.waitForDisk();
      },
      end: () => lines.end(),
    };
  }

  /** Adds lines that clients show as they are. */
  writeLines(...lines: readonly string[]): void {
    this.upload.write(lines.map((line) => `${this.masker.maskText(line)}\n`).join(''));
  }

  /** Adds an error in the form of terraform. */
  writeError(summary: string, detail: string): void {
    const [title, text] = [this.masker.maskText(summary), this.masker.maskText(detail)];
    this.upload.write(this.isStructured ? `${this.renderDiagnostic(title, text)}\n` : `\nError: ${title}\n\n${text}\n`);
  }

  end(): Promise<void> {
    return this.upload.end();
  }

  private renderDiagnostic(summary: string, detail: string): string {
    return JSON.stringify({
      '@level': 'error',
      '@message': `Error: ${summary}`,
      '@module': 'cadastre.executor',
      '@timestamp': this.now().toISOString(),
      diagnostic: { severity: 'error', summary, detail },
      type: 'diagnostic',
    });
  }
}
