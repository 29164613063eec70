import { Logger } from '@nestjs/common';
import type { LogPosition } from '#platform/kernel';
import { LOG_START, toPosition } from '#storage/event-store';
import { castRows, type QueryRunner } from '#platform/postgres';
import type { SentEvents } from '../messages/sent-events.js';
import { MissingIdError, toChange, type Change, type DeletedTeam } from '../messages/change.js';
import {
  selectChangeCount,
  selectChanges,
  selectDeletedTeams,
  selectEventPosition,
  selectHead,
  selectPositionBefore,
  type ChangeCount,
  type ChangeRange,
  type ChangeRow,
  type CursorRow,
  type DeletedTeamRow,
} from './changes.queries.js';

/** A position in the log, named by the id of the event there. */
export type LogCursor = { readonly position: LogPosition; readonly event: string };

/** The position before the first event. */
const START_CURSOR: LogCursor = { position: LOG_START, event: '00000000-0000-0000-0000-000000000000' };

type ReadChanges = {
  readonly changes: readonly Change[];
  /** The last event that was searched; null if there was none. */
  readonly end: LogCursor | null;
  /** Number of events that were searched. */
  readonly searched: number;
};

const TEAM_DELETED = 'TeamDeleted';

const toCursor = (row: LogPosition & { readonly id: string }): LogCursor => ({
  position: toPosition(row),
  event: row.id,
});

/** Reads changes from the log, without any content of the events. */
export class ChangeReader {
  private readonly logger = new Logger(ChangeReader.name);

  constructor(private readonly sent: SentEvents) {}

  /** Returns the last settled event: the present, as far as readers in the order of the log are concerned. */
  async readHead(run: QueryRunner): Promise<LogCursor> {
    const [row] = castRows<CursorRow>(await run(selectHead()));
    return row ? toCursor(row) : START_CURSOR;
  }

  /** Returns null if the log has no event with this id. */
  async findCursor(id: string, run: QueryRunner): Promise<LogCursor | null> {
    if (id === START_CURSOR.event) return START_CURSOR;
    const [row] = castRows<CursorRow>(await run(selectEventPosition(id)));
    return row ? toCursor(row) : null;
  }

  /** Returns the position before the first event since a time; null without such events. Searches at most `limit` events. */
  async findPositionBefore(time: number, limit: number, run: QueryRunner): Promise<LogCursor | null> {
    const [row] = castRows<CursorRow>(await run(selectPositionBefore(time, limit)));
    return row ? toCursor(row) : null;
  }

  async count(range: ChangeRange, run: QueryRunner): Promise<ChangeCount> {
    const [row] = castRows<ChangeCount>(await run(selectChangeCount(range, this.sent)));
    return row ?? { searched: 0, sent: 0 };
  }

  async read(range: ChangeRange, run: QueryRunner): Promise<ReadChanges> {
    const rows = castRows<ChangeRow>(await run(selectChanges(range, this.sent)));
    const last = rows.at(-1);
    if (!last) return { changes: [], end: null, searched: 0 };
    const sent = rows.filter(({ isSent }) => isSent);
    const deletedTeams = await this.findDeletedTeams(sent, run);
    const changes = sent.flatMap((row) => this.toChange(row, deletedTeams.get(row.stream) ?? null));
    return { changes, end: toCursor(last), searched: last.number };
  }

  private async findDeletedTeams(
    rows: readonly ChangeRow[],
    run: QueryRunner,
  ): Promise<ReadonlyMap<string, DeletedTeam>> {
    const teams = rows.filter(({ type }) => type === TEAM_DELETED).map(({ stream }) => stream);
    if (teams.length === 0) return new Map();
    const deleted = castRows<DeletedTeamRow>(await run(selectDeletedTeams(teams)));
    return new Map(deleted.map(({ team, visibility, members }) => [team, { visibility, members }]));
  }

  private toChange(row: ChangeRow, deletedTeam: DeletedTeam | null): readonly Change[] {
    const rule = this.sent.rules.get(row.type);
    if (!rule) return [];
    try {
      const change = toChange(rule, row, row.type === TEAM_DELETED ? deletedTeam : null);
      return change === null ? [] : [change];
    } catch (error) {
      // One event without an id must not stop the messages about all others.
      if (!(error instanceof MissingIdError)) throw error;
      this.logger.error(error.message);
      return [];
    }
  }
}
