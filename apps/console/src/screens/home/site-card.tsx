import { Badge } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { accountQuery } from '../../api/account.js';
import { siteStatusQuery } from '../../api/site.js';
import { Card } from '../../components/card.js';
import { QueryState } from '../../components/states.js';
import { TextLink } from '../../components/text-link.js';
import { FAR_BEHIND, formatBehind } from '../site/follower-lag.js';
import { Nothing } from './home-cards.js';
import classes from './home.module.css';

const REFRESH_MS = 60_000;

const Followers = () => {
  const query = useQuery({ ...siteStatusQuery, refetchInterval: REFRESH_MS });
  return (
    <QueryState query={query} what="status">
      {({ followers }) => {
        const slow = followers.filter(({ running, behind }) => !running || behind > FAR_BEHIND);
        const most = Math.max(0, ...followers.map(({ behind }) => behind));
        if (slow.length === 0) {
          return (
            <Nothing>
              All {followers.length} followers run. The slowest is {formatBehind(most)}{' '}
              {most === 1 ? 'event' : 'events'} behind.
            </Nothing>
          );
        }
        return (
          <ul className={classes['rows']}>
            {slow.map(({ name, running, behind }) => (
              <li key={name} className={classes['row']}>
                <div>
                  <code>{name}</code>{' '}
                  <Badge color={running ? 'yellow' : 'red'}>{running ? 'Far behind' : 'No process runs it'}</Badge>
                </div>
                <span className={classes['time']}>{formatBehind(behind)} behind</span>
              </li>
            ))}
          </ul>
        );
      }}
    </QueryState>
  );
};

/** The state of the followers, for site administrators. Nobody else may read it. */
export const SiteCard = () => {
  const { data: account } = useQuery(accountQuery);
  if (!account?.attributes['is-site-admin']) return null;
  return (
    <Card title="Followers of the site" actions={<TextLink to="/~site">Status of the site</TextLink>}>
      <Followers />
    </Card>
  );
};
