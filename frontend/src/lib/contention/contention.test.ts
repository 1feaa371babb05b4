import { expect, test } from 'vitest';
import { collision, contention, writer } from './fixtures.ts';
import {
  attemptWords,
  headline,
  loserWords,
  outcomeWords,
  rate,
  reasonWords,
  stated,
  winnerWords,
} from './words.ts';

test('the sentence says what was reported, and what was not', () => {
  expect(headline(contention())).toBe(
    '42 reported commits succeeded in this range. 30 of them took 45 attempts. 3 commits were refused. 1 commit failed for another reason.',
  );
  expect(headline(contention({ reported: 1, attempts_known: 1, attempts: 1, refused: 0, failed: 0 }))).toBe(
    '1 reported commit succeeded in this range. They took 1 attempt. None was refused.'.replace('They', 'It'),
  );
  expect(headline(contention({ attempts: null, refused: null, failed: null }))).toBe(
    '42 reported commits succeeded in this range. How many attempts they took was not reported. Whether any was refused was not reported.',
  );
});

test('both writers are named with what they did, and a stream as one', () => {
  expect([loserWords(collision()), winnerWords(collision())]).toEqual([
    'merge_customers (row delta)',
    'events (append, stream)',
  ]);
  const unknown = collision({ winner: null, winner_kind: null, winner_streaming: null });
  expect(winnerWords(unknown)).toBe('a commit that is not known');
  expect(winnerWords(collision({ winner: null, winner_kind: 'schema', winner_streaming: null }))).toBe(
    'a writer that is not stated (schema change)',
  );
});

test('a refusal has a reason, a retry only came second', () => {
  expect(reasonWords(collision())).toBe('it added files that the other had not read');
  expect(reasonWords(collision({ conflict_kind: null }))).toBe('it came first');
  expect(outcomeWords(collision({ refused: 1, retried: 2 }))).toBe('refused once, retried 2 times');
});

test('an unknown number is never a zero', () => {
  expect(attemptWords(writer({ attempts: 45, attempts_known: 30, commits: 33 }))).toBe('45 for 30 of them');
  expect(attemptWords(writer({ attempts: 45, attempts_known: 33, commits: 33 }))).toBe('45');
  expect(attemptWords(writer())).toBe('unknown');
  expect([stated(null), stated(0), rate(null), rate(7.5), rate(30)]).toEqual([
    'unknown',
    '0',
    'unknown',
    '7.5',
    '30',
  ]);
});
