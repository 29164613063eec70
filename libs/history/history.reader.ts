import { Injectable } from '@nestjs/common';
import { Database } from '#event-store';
import { asOfTime, HistoryReader, type PointInTime, type PresentSubject, type Query } from '#json-api';
import { viewsAsOf } from './as-of.queries.js';
import { historyCaughtUp } from './history.follower.js';

@Injectable()
export class WorkspaceHistoryReader extends HistoryReader {
  constructor(private readonly database: Database) {
    super();
  }

  async pointInTime(query: Query, subject: PresentSubject): Promise<PointInTime | null> {
    const time = asOfTime(query);
    if (time === null) return null;
    await historyCaughtUp(this.database, subject);
    return { time, views: (past) => viewsAsOf(time, past) };
  }
}
