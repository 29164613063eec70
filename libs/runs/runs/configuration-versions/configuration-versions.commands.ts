import type { Readable } from 'node:stream';
import type { Actor } from '#api/access';
import { AggregateCommand, type Operation } from '#storage/event-store';
import type { ConfigurationVersionRow } from './configuration-versions.queries.js';

type NewConfigurationVersion = {
  readonly workspace: string;
  readonly autoQueueRuns: boolean;
  readonly speculative: boolean;
  readonly provisional: boolean;
};

/** A change of one existing configuration version. Resolves to null if the version has been deleted meanwhile. */
type ConfigurationChange = Operation<{ id: string; actor: Actor }, ConfigurationVersionRow | null>;

export type ConfigurationVersionOperations = {
  CreateConfigurationVersion: Operation<{ newVersion: NewConfigurationVersion; actor: Actor }, ConfigurationVersionRow>;
  ArchiveConfiguration: ConfigurationChange;
  SoftDeleteConfiguration: ConfigurationChange;
  RestoreConfiguration: ConfigurationChange;
  DeleteConfigurationPermanently: ConfigurationChange;
  /** Receives an archive for which a signed link was issued. */
  /** `address`: the address of the client. */
  ReceiveConfiguration: Operation<{ id: string; content: Readable; address: string | null }, void>;
};

export class ChangeConfigurationVersion<T extends keyof ConfigurationVersionOperations> extends AggregateCommand<
  ConfigurationVersionOperations,
  T
> {}
