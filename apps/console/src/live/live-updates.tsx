import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { useLiveState } from './live-state.js';
import { OrganizationStream } from './organization-stream.js';
import { createRefresher } from './refresher.js';
import classes from './live-updates.module.css';

const MARKS = {
  live: { text: 'Live', title: 'This page shows changes at once.' },
  reconnecting: { text: 'Reconnecting', title: 'The connection is broken. Changes appear later.' },
} as const;

/** Follows the changes of an organization, and marks whether the connection is open. */
export const LiveUpdates = ({ organization }: { readonly organization: string }) => {
  const queries = useQueryClient();
  const state = useLiveState();
  useEffect(() => {
    const stream = new OrganizationStream(organization, createRefresher(queries, organization));
    stream.start();
    return () => stream.stop();
  }, [organization, queries]);
  if (state === 'off') return null;
  const { text, title } = MARKS[state];
  return (
    <span className={classes['mark']} data-state={state} title={title}>
      <span className={classes['text']}>{text}</span>
    </span>
  );
};
