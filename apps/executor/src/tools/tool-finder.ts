import { access, constants, realpath, rm, stat, utimes } from 'node:fs/promises';
import { basename, delimiter, dirname, join } from 'node:path';
import { prerelease, rsort, satisfies, SemVer, valid } from 'semver';
import { getErrorCode, type Logger } from '#platform/kernel';
import { RunError } from '../executor-error.js';
import { ProgramFiles } from './program-files.js';
import type { ReleaseKeys } from './release-keys.js';
import { TOOL_NAMES, TOOL_VARIABLE, type ExecutableName, type ToolName } from './tool-choice.js';
import {
  downloadArchivedTool,
  downloadRelease,
  getReleasePlatform,
  listMirrorVersions,
  MissingReleaseError,
  readFolderNames,
  type SiteArchive,
} from './tool-release.js';

/** Downloaded versions of a tool that stay. Each has about 100 MB. */
const KEPT_VERSIONS = 10;
/** A run can take a day, and commands of it need its version until its end. */
const KEPT_MS = 48 * 3_600_000;

type Executable<Name extends ExecutableName> = {
  readonly name: Name;
  readonly version: string;
  /** The absolute path of the program. */
  readonly path: string;
};

/** A program that plans and applies. */
export type IacTool = Executable<ToolName>;

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

/** Whether a program is the version. Names of builds of a site, such as 1.9.5-acme.1, may add a suffix to what the program reports. */
const isBuildOf = (actual: string, version: string): boolean =>
  actual === version || (prerelease(version) !== null && new SemVer(version).compareMain(actual) === 0);

type ToolFinderOptions = {
  /** The folder of downloaded programs. Those with a verified signature have a folder of their own in it. */
  readonly folder: string;
  /** A folder or a URL. */
  readonly mirror: string;
  /** The keys that sign releases; null accepts releases without a signature. */
  readonly keys: ReleaseKeys | null;
  readonly logger: Logger;
  readonly now: () => Date;
};

/** Finds terraform or tofu in the version of a run: on the path, among the downloads, or on the mirror. */
export class ToolFinder {
  private readonly downloads = new Map<string, Promise<Executable<ExecutableName>>>();
  private readonly programs = new ProgramFiles();
  /** Without programs of earlier releases of Cadastre, which verified no signature, if signatures are required. */
  private readonly folder: string;

  constructor(private readonly options: ToolFinderOptions) {
    this.folder = options.keys === null ? options.folder : join(options.folder, 'verified');
  }

  /**
   * Rejects with a `RunError` if the tool cannot be had in the version. `latest` is what is there. If administrators of the site
   * have set archives for the version, only these count: a program on the path or on the mirror may be another build. `checksum`:
   * the SHA-256 of the program that is preferred, if there are two.
   */
  async find(
    name: ToolName,
    version: string,
    archives: readonly SiteArchive[] = [],
    checksum: string | null = null,
  ): Promise<IacTool> {
    if (archives.length > 0) return this.findArchived(name, version, archives);
    const installed = await this.findInstalled(name);
    if (version === 'latest') return installed ?? (await this.findLatest(name));
    const fitting = installed && satisfies(installed.version, version, { includePrerelease: true }) ? installed : null;
    if (fitting && (checksum === null || checksum === (await this.readChecksum(fitting)))) return fitting;
    const exact = valid(version);
    if (exact !== null)
      return this.download(name, exact).catch((error: unknown) => {
        if (fitting) return fitting;
        throw error;
      });
    throw new RunError(
      `The workspace requires ${name} ${JSON.stringify(version)}, which is no version. Set an exact version such as 1.11.4 in ` +
        'the settings of the workspace.',
    );
  }

  /**
   * Resolves to OPA in the version: the program on the path, or that of the archives. If administrators of the site have set the
   * archives (`isSiteRelease`), only these count. Rejects as `find` does.
   */
  async findOpa(version: string, archives: readonly SiteArchive[], isSiteRelease: boolean): Promise<Executable<'opa'>> {
    const installed = isSiteRelease ? null : await this.findInstalled('opa');
    if (installed?.version === version) return installed;
    if (archives.length === 0)
      throw new RunError(`OPA ${version} is unknown to this site, or disabled: choose another policy-tool-version.`);
    return this.findArchived('opa', version, archives);
  }

  /** Returns the programs on the path. The operator may have replaced them since the last run. */
  async listInstalled(): Promise<readonly IacTool[]> {
    const tools = await Promise.all(TOOL_NAMES.map((name) => this.findInstalled(name)));
    return tools.filter((tool) => tool !== null);
  }

  /** Removes what earlier releases of Cadastre have downloaded without a signature, if signatures are required. */
  async removeUnverified(): Promise<void> {
    if (this.options.keys === null) return;
    for (const name of TOOL_NAMES) await rm(join(this.options.folder, name), { recursive: true, force: true });
  }

  /** Resolves to the SHA-256 of the program. */
  readChecksum({ path }: IacTool): Promise<string> {
    return this.programs.readChecksum(path);
  }

  private async findInstalled<Name extends ExecutableName>(name: Name): Promise<Executable<Name> | null> {
    const path = await findOnPath(name);
    const version = path && (await this.programs.readVersion(name, path));
    return path && version ? { name, version, path } : null;
  }

  private async findLatest(name: ToolName): Promise<IacTool> {
    const { mirror } = this.options;
    const newest =
      findNewest(await readFolderNames(join(this.folder, name))) ??
      findNewest(await listMirrorVersions(mirror, name).catch(() => []));
    if (newest !== null) return this.download(name, newest);
    throw new RunError(
      `The executor has no ${name}: neither on its path nor on its mirror. Set an exact version in the settings of the ` +
        `workspace, or let the operator install ${name} or set CADASTRE_TOOL_MIRROR.`,
    );
  }

  private download(name: ToolName, version: string): Promise<IacTool> {
    const { mirror, keys } = this.options;
    return this.share({ name, version, path: join(this.folder, name, version, name) }, mirror, async (target) => {
      try {
        await downloadRelease({ mirror, name, version, keys }, target);
      } catch (error) {
        throw new RunError(await this.describeFailure(name, version, error));
      }
    });
  }

  /**
   * Returns the program of an archive of a version, and rejects as `find` does. The folder has the name of the checksum, so that
   * another archive for the same version is downloaded again.
   */
  findArchived<Name extends ExecutableName>(
    name: Name,
    version: string,
    archives: readonly SiteArchive[],
  ): Promise<Executable<Name>> {
    const platform = getReleasePlatform();
    const archive = archives.find(({ os, arch }) => `${os}_${arch}` === platform);
    if (!archive)
      throw new RunError(
        `The administrators of the site have set archives for ${name} ${version}, but none for ${platform}. Choose another version, ` +
          'or let them add one.',
      );
    const path = join(this.folder, name, `${version}-${archive.sha}`, name);
    return this.share({ name, version, path }, archive.url, async (target) => {
      try {
        await downloadArchivedTool(archive, name, target);
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        throw new RunError(
          `The executor cannot get ${name} ${version}: ${reason}. Put this version into the PATH of the executor, or let administrators of the ` +
            'site set an archive that it can reach.',
        );
      }
    });
  }

  /** Runs that start at the same time share a download. */
  private share<Name extends ExecutableName>(
    tool: Executable<Name>,
    source: string,
    download: (folder: string) => Promise<void>,
  ): Promise<Executable<Name>> {
    // The path contains the name of the program.
    const running = this.downloads.get(tool.path) as Promise<Executable<Name>> | undefined;
    if (running) return running;
    const shared = this.downloadOnce(tool, source, download).finally(() => this.downloads.delete(tool.path));
    this.downloads.set(tool.path, shared);
    return shared;
  }

  private async downloadOnce<Name extends ExecutableName>(
    tool: Executable<Name>,
    source: string,
    download: (folder: string) => Promise<void>,
  ): Promise<Executable<Name>> {
    const { logger, now } = this.options;
    const { name, version, path } = tool;
    const target = dirname(path);
    const present = await this.programs.readVersion(name, path);
    if (present !== null && isBuildOf(present, version)) {
      await utimes(target, now(), now());
      return { ...tool, version: present };
    }
    await download(target);
    const actual = await this.programs.readVersion(name, path);
    if (actual === null || !isBuildOf(actual, version)) {
      await rm(target, { recursive: true, force: true });
      const actualTool = actual === null ? 'a program that does not run here' : `version ${actual}`;
      throw new RunError(`The executor has got ${actualTool} instead of ${name} ${version} from ${source}.`);
    }
    logger.info({ name, version, source }, 'tool downloaded');
    await this.removeUnused(tool).catch((error: unknown) =>
      logger.warn({ err: error }, 'unused versions of a tool are not removed'),
    );
    return { ...tool, version: actual };
  }

  private async describeFailure(name: ToolName, version: string, error: unknown): Promise<string> {
    const reason = error instanceof Error ? error.message : String(error);
    const advice =
      error instanceof MissingReleaseError
        ? 'Choose another version in the settings of the workspace, or add it to the mirror.'
        : 'Let the operator of the executor install this version, or set CADASTRE_TOOL_MIRROR to a folder or a server that has it.';
    const other = (await this.listInstalled()).find((tool) => tool.version === version);
    const choice = other
      ? ` The executor has ${other.name} ${version}: to use it, set the environment variable ${TOOL_VARIABLE} of the workspace to ${other.name}.`
      : '';
    return `The executor cannot get ${name} ${version}: ${reason}. ${advice}${choice}`;
  }

  /** Removes downloads that were used least recently. Another executor with the same folder may do the same. */
  private async removeUnused({ name, path }: Executable<ExecutableName>): Promise<void> {
    const { folder } = this;
    const { logger, now } = this.options;
    const present = basename(dirname(path));
    // Folders of downloads in progress have names that are no versions.
    const others = (await readFolderNames(join(folder, name))).filter((one) => valid(one) === one && one !== present);
    const used = await Promise.all(
      others.map(async (one) => ({ one, usedAt: await readUse(join(folder, name, one)) })),
    );
    const unused = used.toSorted((a, b) => b.usedAt - a.usedAt).slice(KEPT_VERSIONS - 1);
    for (const { one, usedAt } of unused) {
      if (now().getTime() - usedAt < KEPT_MS) continue;
      await rm(join(folder, name, one), { recursive: true, force: true });
      logger.info({ name, version: one }, 'unused version of a tool removed');
    }
  }
}

const readUse = async (folder: string): Promise<number> => {
  try {
    return (await stat(folder)).mtimeMs;
  } catch (error) {
    if (getErrorCode(error) === 'ENOENT') return 0;
    throw error;
  }
};
