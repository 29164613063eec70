import { execFile } from 'node:child_process';
import { access, constants, realpath } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { prerelease, rsort, satisfies, valid } from 'semver';
import { z } from 'zod';
import type { Logger } from '#platform/kernel';
import { RunError } from '../executor-error.js';
import { downloadRelease, listMirrorVersions, MissingReleaseError, readFolderNames } from './tool-release.js';

export const HASHICORP_RELEASES = 'https://releases.hashicorp.com';

const PROGRAMS = ['terraform', 'tofu'] as const;
const VERSION_TIMEOUT_MS = 30_000;

/** A program that plans and applies. */
export type IacTool = {
  readonly name: (typeof PROGRAMS)[number];
  readonly version: string;
  /** The absolute path of the program. */
  readonly path: string;
};

/** Both programs name the member after terraform. */
const versionOutput = z.object({ terraform_version: z.string() });

const execute = promisify(execFile);

const readVersion = async (path: string): Promise<string | null> => {
  try {
    const env = { PATH: process.env['PATH'] ?? '', HOME: '/nonexistent', CHECKPOINT_DISABLE: '1' };
    const { stdout } = await execute(path, ['version', '-json'], { env, timeout: VERSION_TIMEOUT_MS, cwd: '/' });
    return valid(versionOutput.parse(JSON.parse(stdout)).terraform_version);
  } catch {
    return null;
  }
};

const findOnPath = async (name: string): Promise<string | null> => {
  for (const folder of (process.env['PATH'] ?? '').split(delimiter).filter(Boolean)) {
    try {
      const path = join(folder, name);
      await access(path, constants.X_OK);
      return await realpath(path);
    } catch {
      // The next folder may have it.
    }
  }
  return null;
};

const isStable = (version: string): boolean => valid(version) !== null && prerelease(version) === null;

const findNewest = (versions: readonly string[]): string | null => rsort(versions.filter(isStable))[0] ?? null;

type ToolFinderOptions = {
  /** The folder of downloaded programs. */
  readonly folder: string;
  /** A folder or a URL. */
  readonly mirror: string;
  readonly logger: Logger;
};

/** Finds terraform in the version of a run: on the path, among the downloads, or on the mirror. */
export class ToolFinder {
  private readonly downloads = new Map<string, Promise<IacTool>>();

  constructor(private readonly options: ToolFinderOptions) {}

  /** Rejects with a `RunError` if the version cannot be had. `latest` is what is there. */
  async find(version: string): Promise<IacTool> {
    const installed = await this.listInstalled();
    if (version === 'latest') return installed[0] ?? (await this.findLatest());
    const match = installed.find((tool) => satisfies(tool.version, version, { includePrerelease: true }));
    if (match) return match;
    const exact = valid(version);
    if (exact !== null) return this.download(exact);
    throw new RunError(
      `The workspace requires terraform ${JSON.stringify(version)}, which is no version. Set an exact version such as 1.11.4 in ` +
        'the settings of the workspace.',
    );
  }

  /** Returns the programs on the path. The operator may have replaced them since the last run. */
  async listInstalled(): Promise<readonly IacTool[]> {
    const tools = await Promise.all(
      PROGRAMS.map(async (name) => {
        const path = await findOnPath(name);
        const version = path && (await readVersion(path));
        return path && version ? [{ name, version, path }] : [];
      }),
    );
    return tools.flat();
  }

  private async findLatest(): Promise<IacTool> {
    const { folder, mirror } = this.options;
    const newest =
      findNewest(await readFolderNames(join(folder, 'terraform'))) ??
      findNewest(await listMirrorVersions(mirror).catch(() => []));
    if (newest !== null) return this.download(newest);
    throw new RunError(
      'The executor has no terraform: neither on its path nor on its mirror. Set an exact version in the settings of the ' +
        'workspace, or let the operator install terraform or set CADASTRE_TOOL_MIRROR.',
    );
  }

  /** Runs that start at the same time share a download. */
  private download(version: string): Promise<IacTool> {
    const running = this.downloads.get(version);
    if (running) return running;
    const download = this.downloadOnce(version).finally(() => this.downloads.delete(version));
    this.downloads.set(version, download);
    return download;
  }

  private async downloadOnce(version: string): Promise<IacTool> {
    const { folder, mirror, logger } = this.options;
    const target = join(folder, 'terraform', version);
    const tool: IacTool = { name: 'terraform', version, path: join(target, 'terraform') };
    if ((await readVersion(tool.path)) === version) return tool;
    try {
      await downloadRelease(mirror, version, target);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      const advice =
        error instanceof MissingReleaseError
          ? 'Choose another version in the settings of the workspace, or add it to the mirror.'
          : 'Let the operator of the executor install this version, or set CADASTRE_TOOL_MIRROR to a folder or a server that has it.';
      throw new RunError(`The executor cannot get terraform ${version}: ${reason}. ${advice}`);
    }
    logger.info({ version, mirror }, 'terraform downloaded');
    return tool;
  }
}
