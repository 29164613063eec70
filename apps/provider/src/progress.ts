import cliProgress from 'cli-progress';

type UploadedFile = { readonly filename: string; readonly size: number };

/** Reports the progress of uploads. */
export type UploadProgress = {
  /** `bytes` counts what has been sent in this attempt. */
  sent(filename: string, bytes: number): void;
  /** `before`: the server had the file already. */
  done(filename: string, before: boolean): void;
  end(): void;
};

export type PublishProgress = {
  print(line: string): void;
  uploads(files: readonly UploadedFile[]): UploadProgress;
};

export const formatSize = (bytes: number): string =>
  bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;

/** Prints a line for each file, for logs. */
export const createPlainProgress = (print: (line: string) => void): PublishProgress => ({
  print,
  uploads: (files) => {
    const sizes = new Map(files.map(({ filename, size }) => [filename, size]));
    return {
      sent: () => {},
      done: (filename, before) =>
        print(`${filename}: ${before ? 'uploaded already' : `uploaded, ${formatSize(sizes.get(filename) ?? 0)}`}`),
      end: () => {},
    };
  },
});

/** Shows one bar for all files on a terminal. */
export const createProgressBar = (stream: NodeJS.WriteStream): PublishProgress => {
  let bars: cliProgress.MultiBar | null = null;
  const print = (line: string): void => {
    if (bars) bars.log(`${line}\n`);
    else stream.write(`${line}\n`);
  };
  return {
    print,
    uploads: (files) => {
      const total = files.reduce((sum, { size }) => sum + size, 0);
      const sent = new Map<string, number>();
      const done = new Set<string>();
      const format = ' {bar} {percentage}% | {megabytes} of {all} | {files} | {eta_formatted}';
      bars = new cliProgress.MultiBar({ format, stream, hideCursor: true }, cliProgress.Presets.shades_classic);
      const figures = (bytes: number) => ({
        megabytes: formatSize(bytes),
        all: formatSize(total),
        files: `${done.size} of ${files.length} files`,
      });
      const bar = bars.create(Math.max(total, 1), 0, figures(0));
      const update = (filename: string, bytes: number): void => {
        sent.set(filename, bytes);
        const sentBytes = [...sent.values()].reduce((sum, each) => sum + each, 0);
        bar.update(sentBytes, figures(sentBytes));
      };
      return {
        sent: update,
        done: (filename) => {
          done.add(filename);
          update(filename, files.find((file) => file.filename === filename)?.size ?? 0);
        },
        end: () => {
          bars?.stop();
          bars = null;
        },
      };
    },
  };
};
