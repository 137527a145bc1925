//! L11: the figures of RFC-0001 §8.2, from the ledger.

use rusqlite::Row;
use serde::Serialize;

use crate::error::LedgerError;
use crate::event::LifecycleState;
use crate::index::Index;
use crate::query::{Conditions, Query};

/// The figures, under the names of RFC-0001 §8.2 in snake case.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Stats {
    /// Executions that were declared.
    pub execution_count: u64,
    /// Percent of the ended ones that completed; nothing if none ended.
    pub success_rate: Option<f64>,
    /// Percent of the ended ones that failed, were ended or were rolled back. The rest was denied.
    pub failure_rate: Option<f64>,
    /// How long they took.
    pub execution_duration: Durations,
    /// What they used, where it was measured.
    pub resource_usage: ResourceUsage,
    /// Executions that were refused.
    pub capability_denials: u64,
    /// Executions whose changes were taken back.
    pub rollback_count: u64,
}

/// Percentiles in milliseconds, by nearest rank; nothing if nothing was measured.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize)]
pub struct Durations {
    /// Half took no longer.
    pub p50: Option<u64>,
    /// Nineteen of twenty took no longer.
    pub p95: Option<u64>,
    /// Ninety-nine of a hundred took no longer.
    pub p99: Option<u64>,
}

/// What executions used; nothing if nothing was measured.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize)]
pub struct ResourceUsage {
    /// Processor time of all together, in milliseconds.
    pub cpu_ms: Option<u64>,
    /// The most memory that any one used.
    pub memory_bytes_max: Option<u64>,
    /// Bytes read by all together.
    pub read_bytes: Option<u64>,
    /// Bytes written by all together.
    pub written_bytes: Option<u64>,
}

/// One execution, as its last event left it.
struct Ended {
    tool: String,
    state: Option<LifecycleState>,
    was_rolled_back: bool,
    duration: Option<u64>,
    cpu_ms: Option<u64>,
    memory_bytes: Option<u64>,
    read_bytes: Option<u64>,
    written_bytes: Option<u64>,
}

impl Ended {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        let state: Option<String> = row.get(1)?;
        Ok(Self {
            tool: row.get::<_, Option<String>>(0)?.unwrap_or_default(),
            state: state.as_deref().and_then(LifecycleState::parse),
            was_rolled_back: row.get(2)?,
            duration: row.get(3)?,
            cpu_ms: row.get(4)?,
            memory_bytes: row.get(5)?,
            read_bytes: row.get(6)?,
            written_bytes: row.get(7)?,
        })
    }
}

impl Index {
    /// The figures over the executions that a question asks for.
    pub fn stats(&self, query: &Query) -> Result<Stats, LedgerError> {
        let ended = self.ended(query).map_err(|error| self.wrong(error))?;
        Ok(Stats::of(&ended.iter().collect::<Vec<_>>()))
    }

    /// The same figures for each tool, by its id.
    pub fn stats_by_tool(&self, query: &Query) -> Result<Vec<(String, Stats)>, LedgerError> {
        let ended = self.ended(query).map_err(|error| self.wrong(error))?;
        let mut tools: Vec<&str> = ended.iter().map(|one| one.tool.as_str()).collect();
        tools.sort_unstable();
        tools.dedup();
        let of = |tool: &str| {
            let those: Vec<&Ended> = ended.iter().filter(|one| one.tool == tool).collect();
            (tool.to_owned(), Stats::of(&those))
        };
        Ok(tools.into_iter().map(of).collect())
    }

    fn ended(&self, query: &Query) -> rusqlite::Result<Vec<Ended>> {
        let Conditions { clause, values } = query.conditions();
        let text = format!(
            "WITH ended AS (
                SELECT MAX(seq) AS seq, MAX(state = 'ROLLED_BACK') AS back,
                    MAX(duration) AS duration, MAX(cpu_ms) AS cpu_ms,
                    MAX(memory_bytes) AS memory, MAX(read_bytes) AS read,
                    MAX(written_bytes) AS written
                FROM events WHERE kind = 'lifecycle' AND {clause} GROUP BY execution)
             SELECT events.tool, events.state, ended.back, ended.duration, ended.cpu_ms,
                ended.memory, ended.read, ended.written
             FROM ended JOIN events ON events.seq = ended.seq"
        );
        let mut statement = self.connection.prepare_cached(&text)?;
        let rows = statement.query_map(rusqlite::params_from_iter(values), Ended::read)?;
        rows.collect()
    }
}

impl Stats {
    fn of(executions: &[&Ended]) -> Self {
        let count = |wanted: &[LifecycleState]| {
            let is_wanted = |one: &&&Ended| one.state.is_some_and(|state| wanted.contains(&state));
            executions.iter().filter(is_wanted).count() as u64
        };
        let completed = count(&[LifecycleState::Completed]);
        let denied = count(&[LifecycleState::Denied]);
        let failed = count(&[
            LifecycleState::Failed,
            LifecycleState::Aborted,
            LifecycleState::RolledBack,
        ]);
        let ended = completed + denied + failed;
        let sum = |of: fn(&Ended) -> Option<u64>| {
            let found = executions.iter().filter_map(|one| of(one));
            found.reduce(u64::saturating_add)
        };
        Self {
            execution_count: executions.len() as u64,
            success_rate: percent(completed, ended),
            failure_rate: percent(failed, ended),
            execution_duration: Durations::of(executions),
            resource_usage: ResourceUsage {
                cpu_ms: sum(|one| one.cpu_ms),
                memory_bytes_max: executions.iter().filter_map(|one| one.memory_bytes).max(),
                read_bytes: sum(|one| one.read_bytes),
                written_bytes: sum(|one| one.written_bytes),
            },
            capability_denials: denied,
            rollback_count: executions.iter().filter(|one| one.was_rolled_back).count() as u64,
        }
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "a percentage of more than 2^52 executions may be rounded"
)]
fn percent(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 * 100.0 / whole as f64)
}

impl Durations {
    fn of(executions: &[&Ended]) -> Self {
        let mut measured: Vec<u64> = executions.iter().filter_map(|one| one.duration).collect();
        measured.sort_unstable();
        let rank = |percent: usize| {
            let place = (measured.len() * percent).div_ceil(100).max(1) - 1;
            measured.get(place).copied()
        };
        Self {
            p50: rank(50),
            p95: rank(95),
            p99: rank(99),
        }
    }
}
