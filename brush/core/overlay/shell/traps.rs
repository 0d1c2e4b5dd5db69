//! Running traps: between commands, around them, and at the shell's end.
//!
//! Replaces upstream's `shell/traps.rs`, which runs traps for events only and loses what `exit` in a trap says. Which traps
//! there are is `traps`' business, and when a signal comes `sys::trapping`'s.

#![warn(warnings, clippy::all, clippy::pedantic)]
#![expect(clippy::missing_errors_doc, reason = "the signatures are upstream's")]

use std::cell::Cell;

use crate::interp::ExecutionParameters;
use crate::results::{ExecutionControlFlow, ExecutionResult};
use crate::sys::trapping;
use crate::traps::{TrapHandler, TrapSignal};
use crate::{ProcessGroupPolicy, error, extensions};

/// Traps that a function call set aside.
#[derive(Default)]
pub(crate) struct TrapsAside([Option<TrapHandler>; 3]);

/// The traps that functions don't inherit unless they are told to.
const NOT_INHERITED: [TrapSignal; 3] = [TrapSignal::Debug, TrapSignal::Return, TrapSignal::Err];

thread_local! {
    /// The last status before the `EXIT` trap. The shell has one thread, and its forks go on with a copy.
    static STATUS_AT_END: Cell<Option<u8>> = const { Cell::new(None) };
    /// The last status before a `return` whose trap comes next.
    static STATUS_BEFORE_RETURN: Cell<Option<u8>> = const { Cell::new(None) };
}

impl<SE: extensions::ShellExtensions> crate::Shell<SE> {
    /// The status with which `exit` without an operand ends the shell: in the `EXIT` trap, the one from before the trap.
    pub fn status_to_exit_with(&self) -> u8 {
        STATUS_AT_END.get().unwrap_or(self.last_exit_status)
    }

    /// Notes the status before `return`, which its trap sees.
    pub fn note_return(&self) {
        let is_seen = self.traps.handles(TrapSignal::Return) && !self.call_stack().is_any_trap_active();
        STATUS_BEFORE_RETURN.set(is_seen.then_some(self.last_exit_status));
    }

    /// Says that this is a fork, whose end has not come.
    #[expect(clippy::unused_self, reason = "a process runs one shell, and this is it")]
    pub(crate) fn forget_end(&self) {
        STATUS_AT_END.set(None);
    }

    /// Runs what a shell runs at its end: the `EXIT` trap, once. What `exit` in it says becomes the last status.
    pub async fn on_exit(&mut self) -> Result<(), error::Error> {
        let params = self.default_exec_params();
        self.run_exit_trap(&params).await
    }

    /// Runs the `EXIT` trap where a command said `exit`: the variables of its functions and its redirections still hold then.
    /// Those in an evaluated text are undone before, unless a function is around it.
    pub(crate) async fn end_where_told(&mut self, result: &mut ExecutionResult, params: &ExecutionParameters) {
        let is_exit = matches!(result.next_control_flow, ExecutionControlFlow::ExitShell);
        if !is_exit || self.options.sh_mode || !self.traps.handles(TrapSignal::Exit) {
            return;
        }
        let is_evaluated = self.call_stack().evaluations() > 0
            || self.call_stack().iter().any(|frame| frame.frame_type.is_command_string());
        let stays = self.in_function() || self.is_subshell() || !is_evaluated;
        let params = if stays { params.clone() } else { self.default_exec_params() };
        self.last_exit_status = result.exit_code.into();
        // What the trap could not do was said, and the shell ends all the same.
        let _ = self.run_exit_trap(&params).await;
        result.exit_code = self.last_exit_status.into();
    }

    /// Runs the `EXIT` trap where a command's failure ends the shell: arguments and names of its functions are still there,
    /// their variables are not.
    pub(crate) async fn end_where_failed(&mut self, result: &mut ExecutionResult) {
        if self.options.sh_mode || !self.traps.handles(TrapSignal::Exit) {
            return;
        }
        self.last_exit_status = result.exit_code.into();
        let locals = self.env.set_locals_aside();
        let _ = self.on_exit().await;
        self.env.give_locals_back(locals);
        result.exit_code = self.last_exit_status.into();
    }

    async fn run_exit_trap(&mut self, params: &ExecutionParameters) -> Result<(), error::Error> {
        if STATUS_AT_END.get().is_some() {
            return Ok(());
        }
        let Some(handler) = self.traps.set_aside(TrapSignal::Exit) else { return Ok(()) };
        let result = self.run_handler(TrapSignal::Exit, &handler, params).await?;
        let leaves = matches!(
            result.next_control_flow,
            ExecutionControlFlow::ExitShell | ExecutionControlFlow::ReturnFromFunctionOrScript
        );
        if leaves {
            self.last_exit_status = result.exit_code.into();
        }
        Ok(())
    }

    /// Runs the traps of the signals that were caught, and ends the shell if one came that ends it. Gives what a trap wants
    /// to be done next, if that isn't to go on.
    pub async fn run_pending_traps(
        &mut self,
        params: &ExecutionParameters,
    ) -> Result<Option<ExecutionResult>, error::Error> {
        if !trapping::anything_pending() {
            return Ok(None);
        }
        self.end_by_pending_signal().await;
        while let Some(number) = trapping::take_pending() {
            let signal = TrapSignal::try_from(number)?;
            let Some(handler) = self.traps.get_handler(signal).cloned() else { continue };
            self.jobs_mut().collect_ended();
            for _ in 0..crate::processes::times_of_trap(number) {
                let result = self.run_handler(signal, &handler, params).await?;
                if !result.is_normal_flow() {
                    return Ok(Some(result));
                }
            }
        }
        Ok(None)
    }

    /// Ends the process by the signal that is to end it, after the `EXIT` trap.
    pub async fn end_by_pending_signal(&mut self) {
        let Some(signal) = trapping::ending() else { return };
        trapping::end_by(0);
        if !self.options.sh_mode {
            let _locals = self.env.set_locals_aside();
            // Whatever the trap did, the shell dies of the signal.
            let _ = self.on_exit().await;
        }
        trapping::die_of(signal)
    }

    /// Runs the trap of an event, if it has one, unless it is running already.
    pub(crate) async fn invoke_trap_handler(
        &mut self,
        signal: TrapSignal,
        params: &ExecutionParameters,
    ) -> Result<ExecutionResult, error::Error> {
        if self.call_stack().is_trap_signal_active(signal) || self.call_stack().is_trap_delivery_suppressed() {
            return Ok(ExecutionResult::success());
        }
        match self.traps.get_handler(signal).cloned() {
            Some(handler) => self.run_handler(signal, &handler, params).await,
            None => Ok(ExecutionResult::success()),
        }
    }

    async fn run_handler(
        &mut self,
        signal: TrapSignal,
        handler: &TrapHandler,
        params: &ExecutionParameters,
    ) -> Result<ExecutionResult, error::Error> {
        if handler.command.is_empty() {
            return Ok(ExecutionResult::success());
        }
        let mut params = params.clone();
        params.tail = false;
        params.process_group_policy = ProcessGroupPolicy::SameProcessGroup;
        let status = self.last_exit_status;
        let pipeline = self.last_pipeline_statuses.clone();
        if signal == TrapSignal::Exit {
            STATUS_AT_END.set(Some(status));
        }
        if signal == TrapSignal::Return
            && let Some(before) = STATUS_BEFORE_RETURN.take()
        {
            self.last_exit_status = before;
        }
        self.enter_trap_handler(signal, Some(handler));
        let result = Box::pin(self.run_string(&handler.command, &handler.source_info, &params)).await;
        self.leave_trap_handler();
        self.last_exit_status = status;
        self.last_pipeline_statuses = pipeline;
        result
    }

    /// Sets aside the traps that a function about to be called does not have.
    pub(crate) fn set_traps_aside(&mut self, is_traced: bool) -> TrapsAside {
        let mut aside = TrapsAside::default();
        if self.traps.is_empty() {
            return aside;
        }
        let keeps_debug = is_traced || self.options.shell_functions_inherit_debug_and_return_traps;
        let keeps_err = self.options.shell_functions_inherit_err_trap;
        for (slot, signal) in aside.0.iter_mut().zip(NOT_INHERITED) {
            let keeps = if signal == TrapSignal::Err { keeps_err } else { keeps_debug };
            if !keeps {
                *slot = self.traps.set_aside(signal);
            }
        }
        aside
    }

    /// Gives back what was set aside, where the function set no other.
    pub(crate) fn give_traps_back(&mut self, aside: TrapsAside) {
        for (handler, signal) in aside.0.into_iter().zip(NOT_INHERITED) {
            self.traps.give_back(signal, handler);
        }
    }
}
