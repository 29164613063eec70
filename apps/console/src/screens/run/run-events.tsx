import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { runEventsQuery, type ConsoleRun } from '../../api/runs.js';
import { findIncluded } from '../../api/included.js';
import { LongText } from '../../components/long-text.js';
import { QueryState } from '../../components/states.js';
import { Time } from '../../components/times.js';
import { formatName } from '../../components/words.js';
import classes from './run.module.css';

/** The events of a run, the oldest first. Another status loads it again. */
export const RunEvents = ({ organization, run }: { readonly organization: string; readonly run: ConsoleRun }) => {
  const options = runEventsQuery(organization, run.id);
  const query = useQuery({ ...options, queryKey: [...options.queryKey, run.attributes.status] });
  return (
    <QueryState query={query} what="run">
      {(document) => (
        <ol className={classes['events']}>
          {document.data.map((event) => {
            const comment = findIncluded(document, event.relationships.comment.data)?.attributes.body;
            const { description } = event.attributes;
            // The message stands beside the events already.
            const text = comment ?? (description === run.attributes.message ? null : description);
            const actor = findIncluded(document, event.relationships.actor.data)?.attributes.username;
            return (
              <li key={event.id}>
                <Text size="sm">
                  <strong>{formatName(event.attributes.action)}</strong>{' '}
                  <Text size="sm" c="dimmed" component="span">
                    {actor && `by ${actor}, `}
                    <Time value={event.attributes['created-at']} />
                  </Text>
                </Text>
                {text && (
                  <blockquote className={classes['comment']}>
                    <LongText text={text} />
                  </blockquote>
                )}
              </li>
            );
          })}
        </ol>
      )}
    </QueryState>
  );
};
