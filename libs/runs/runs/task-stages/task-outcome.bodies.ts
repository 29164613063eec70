import { promisify } from 'node:util';
import { zstdCompress, zstdDecompress } from 'node:zlib';
import { Envelope, type EncryptionKeys } from '#platform/encryption';
import { sql, type Sql } from '#platform/kernel';

/** Part of the key derivation. */
export const OUTCOME_BODIES_PURPOSE = 'outcomes of run tasks';

const compress = promisify(zstdCompress);
const decompress = promisify(zstdDecompress);

type BodyOwner = { readonly run: string; readonly workspace: string; readonly organization: string };

/** The texts of outcomes, compressed and encrypted. */
export class TaskOutcomeBodies {
  private readonly envelope: Envelope;

  constructor(encryptionKeys: EncryptionKeys) {
    this.envelope = new Envelope(encryptionKeys, OUTCOME_BODIES_PURPOSE);
  }

  /** Resolves to a statement that stores the body. */
  async store({ run, workspace, organization }: BodyOwner, outcome: string, body: string): Promise<Sql> {
    const content = this.envelope.encrypt(outcome, await compress(Buffer.from(body)));
    return sql`insert into runs.task_outcome_bodies (id, run, workspace, organization, content)
               values (${outcome}, ${run}, ${workspace}, ${organization}, ${content})`;
  }

  async decrypt(outcome: string, encrypted: string): Promise<string> {
    const content = await decompress(this.envelope.open(outcome, Buffer.from(encrypted, 'base64')));
    return content.toString('utf8');
  }
}
