import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { gpgKeysQuery } from '../../api/registry.js';
import { teamsQuery } from '../../api/teams.js';
import { teamTokensQuery } from '../../api/tokens.js';
import { Card } from '../../components/card.js';
import { LongText } from '../../components/long-text.js';
import { TextLink } from '../../components/text-link.js';
import { useNow } from '../../components/times.js';
import { Nothing, Row, type CardProps } from './home-cards.js';
import classes from './home.module.css';

/* Tokens and keys that end soon, so that a person can replace them in time. */

const DAY_MS = 24 * 60 * 60_000;
const TOKENS_MS = 14 * DAY_MS;
/** The providers that a key has signed must be signed again, which takes longer. */
const KEYS_MS = 60 * DAY_MS;

/** The list of tokens begins with those that end first. */
export const EndingTokensCard = ({ organization }: CardProps) => {
  const now = useNow();
  const query = useInfiniteQuery(teamTokensQuery(organization));
  const teams = useInfiniteQuery(teamsQuery(organization));
  const names = new Map(
    teams.data?.pages.flatMap(({ data }) => data.map(({ id, attributes }) => [id, attributes.name] as const)),
  );
  const tokens = query.data?.pages.flatMap(({ data }) => data);
  // Without tokens that the person may manage, there is nothing to say.
  if (!tokens || tokens.length === 0) return null;
  const ending = tokens.flatMap(({ id, attributes, relationships }) => {
    const end = attributes['expired-at'];
    if (end === null || new Date(end).getTime() > now + TOKENS_MS) return [];
    const team = relationships.team?.data.id ?? '';
    return [{ id, end, team: names.get(team) ?? team, description: attributes.description ?? '' }];
  });
  return (
    <Card
      title="Tokens that end within two weeks"
      actions={
        <TextLink to="/$organization/people/tokens" params={{ organization }}>
          All tokens
        </TextLink>
      }
    >
      {ending.length === 0 ? (
        <Nothing>No token of a team that you may manage ends soon.</Nothing>
      ) : (
        <ul className={classes['rows']}>
          {ending.map(({ id, end, team, description }) => (
            <Row key={id} time={end}>
              <b>{team}</b>
              <div className={classes['note']}>
                <LongText text={description} />
              </div>
            </Row>
          ))}
        </ul>
      )}
    </Card>
  );
};

/** Keys that end within two months, and keys that have ended. Without one there is no card. */
export const EndingKeysCard = ({ organization }: CardProps) => {
  const now = useNow();
  const { data: keys = [] } = useQuery(gpgKeysQuery(organization));
  const ending = keys.flatMap(({ id, attributes }) => {
    const end = attributes['expires-at'];
    return end === null || new Date(end).getTime() > now + KEYS_MS ? [] : [{ id, end, keyId: attributes['key-id'] }];
  });
  if (ending.length === 0) return null;
  return (
    <Card
      title="GPG keys that end within two months"
      actions={
        <TextLink to="/$organization/registry" params={{ organization }}>
          Registry
        </TextLink>
      }
    >
      <ul className={classes['rows']}>
        {ending
          .toSorted((left, right) => left.end.localeCompare(right.end))
          .map(({ id, end, keyId }) => (
            <Row key={id} time={end}>
              <code>{keyId}</code>
              <div className={classes['note']}>
                {new Date(end).getTime() <= now
                  ? 'Has ended. Clients warn about providers that it has signed.'
                  : 'Add a newer key, and publish the next version with it.'}
              </div>
            </Row>
          ))}
      </ul>
    </Card>
  );
};
