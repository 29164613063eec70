import { Injectable } from '@nestjs/common';
import { EventStore } from '#storage/event-store';
import { parseAsOf, HistoryReader, type PointInTime, type PresentSubject, type QueryParameters } from '#api/json-api';
import { buildViewsAsOf } from './as-of.queries.js';
import { waitForHistory } from '../writing/history.follower.js';

@Injectable()
export class WorkspaceHistoryReader extends HistoryReader {
  constructor(private readonly store: EventStore) {
    super();
  }

  async pointInTime(query: QueryParameters, subject: PresentSubject): Promise<PointInTime | null> {
    const time = parseAsOf(query);
    if (time === null) return null;
    await waitForHistory(this.store, subject);
    return { time, views: (past) => buildViewsAsOf(time, past) };
  }
}
