import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ClaimedPhase, ExecutorApi } from '../api/executor-api.js';
import type { PhaseJob } from '../api/phase-job.js';
import { CredentialSettings } from '../credentials/credential-settings.js';
import { buildDynamicCredentials } from '../credentials/dynamic-credentials.js';
import { VaultSessions, type FindAddresses } from '../credentials/vault-sessions.js';
import type { Sandbox } from '../sandbox/sandbox.js';
import type { PhaseFolder } from './phase-folder.js';

type CredentialDependencies = {
  readonly api: ExecutorApi;
  readonly sandbox: Sandbox;
  /** Refuses hosts that runs must not reach. */
  readonly findAddresses: FindAddresses;
};

/** The credentials with which a phase authenticates at clouds. They end with the phase. */
export class PhaseCredentials {
  private readonly sessions: VaultSessions;
  /** What must not occur in a log. */
  readonly secrets: string[] = [];

  constructor(
    private readonly dependencies: CredentialDependencies,
    private readonly claimed: ClaimedPhase,
    private readonly folder: PhaseFolder,
  ) {
    this.sessions = new VaultSessions(dependencies.findAddresses);
  }

  /** Returns the job with the credentials that its variables switch on. Rejects with a `RunError` if one is missing. */
  async addTo(job: PhaseJob, signal: AbortSignal): Promise<PhaseJob> {
    const { api, sandbox } = this.dependencies;
    const ownEnvironment = new Map(job.environment.map(({ key, value }) => [key, value]));
    const built = await buildDynamicCredentials(new CredentialSettings(ownEnvironment, this.claimed.phase), {
      requestToken: (audience) => api.issueIdentityToken(this.claimed, audience, signal),
      logIn: (login) => this.sessions.logIn(login),
      write: async (name, content) => {
        const file = `credentials-${name}`;
        await writeFile(join(this.folder.files, file), content, { mode: 0o600 });
        return this.folder.locateFile(sandbox, file);
      },
    });
    this.secrets.push(...built.secrets);
    const environment = Object.entries(built.environment);
    return {
      ...job,
      environment: [
        ...job.environment.filter(({ key }) => !Object.hasOwn(built.environment, key)),
        ...environment.map(([key, value]) => ({ key, value, sensitive: built.secrets.includes(value) })),
      ],
      variables: [
        ...job.variables.filter(({ key }) => !Object.hasOwn(built.variables, key)),
        ...Object.entries(built.variables).map(([key, value]) => ({ key, value, hcl: true, sensitive: false })),
      ],
    };
  }

  close(): Promise<void> {
    return this.sessions.close();
  }
}
