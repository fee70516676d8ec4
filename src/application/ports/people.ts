/** Desks, humans, teams, and tokens for remote agents. */
import type { Desk, Human, Team } from '../../domain/humans.ts';
import type { Token } from '../../domain/tokens.ts';
import type { Prunable, PrunableReads } from './records.ts';

export interface DeskReads extends PrunableReads {
  online(now: string): Promise<Desk[]>;
  get(desk_id: string): Promise<Desk | undefined>;
  preferences(seat: string): Promise<Record<string, unknown>>;
}

export interface DeskRecords extends DeskReads, Prunable {
  put(desk: Desk): Promise<void>;
  renew(desk_id: string, lease_until: string): Promise<void>;
  remove(desk_id: string): Promise<void>;
  removeLapsed(now: string): Promise<void>;
  setPreferences(seat: string, value: Record<string, unknown>): Promise<void>;
}

export interface HumanReads {
  /** By folded name; every name in this interface is folded. */
  get(folded: string): Promise<Human | undefined>;
  /** One entry per name that reaches somebody, those seen last first. */
  list(limit: number): Promise<Human[]>;
  team(folded: string): Promise<Team | undefined>;
  teams(): Promise<Team[]>;
}

export interface HumanRecords extends HumanReads {
  put(human: Human): Promise<void>;
  putTeam(team: Team): Promise<void>;
  /** False: there was none. */
  removeTeam(folded: string): Promise<boolean>;
}

export interface TokenReads extends PrunableReads {
  get(name: string): Promise<Token | undefined>;
  byDigest(digest: string): Promise<Token | undefined>;
  list(): Promise<Token[]>;
}

export interface TokenRecords extends TokenReads, Prunable {
  put(token: Token): Promise<void>;
}
