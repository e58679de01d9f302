"""All checks, in the order of the documentation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paddlespec.checks import (
    command,
    devices,
    env,
    images,
    launch,
    names,
    parameters,
    places,
    policy,
    ports,
    quantities,
    secrets,
    topology,
    variables,
    volumes,
)

if TYPE_CHECKING:
    from paddlespec.checks import Check, EnvCheck, RoleCheck

CHECKS: tuple[Check, ...] = (
    topology.mode_and_pservers,
    topology.processes_per_replica,
    topology.legacy_settings,
    topology.legacy_passes,
    topology.empty_restart,
    topology.addresses_fit,
    command.around_no_command,
    names.managed_labels,
    env.allowed,
    volumes.new_claims,
    volumes.one_source,
    volumes.names,
    volumes.mounts,
    volumes.nested,
    volumes.code_is_seen,
    volumes.shared_claims,
    volumes.sub_paths,
    places.on_a_mount,
    places.output_is_writable,
    places.logs_of_the_launcher,
    places.input_is_output,
    places.policy_needs_output,
    places.clear_spares,
    places.runs_beside_code,
    parameters.used,
    parameters.of_profiles,
    policy.retries,
    policy.durations,
    policy.idle_pservers,
    secrets.in_parameters,
    secrets.in_commands,
    secrets.in_patches,
)

ROLE_CHECKS: tuple[RoleCheck, ...] = (
    names.name_fits,
    quantities.memory,
    quantities.memory_is_set,
    quantities.cpu,
    quantities.limits,
    devices.accelerator,
    devices.gpus_are_used,
    devices.extended,
    devices.claims,
    ports.one_owner,
    ports.drawn_ports,
    env.references,
    images.spelling,
    images.tag,
    images.parameter_server,
    images.for_accelerators,
    launch.launcher,
    launch.launcher_in_ps,
    launch.old_launcher,
    launch.old_process_count,
    launch.launcher_flags,
    command.args_without_command,
    command.no_command,
    command.empty_words,
    command.exec_form,
    variables.unset,
    variables.chosen_devices,
    command.fault_tolerance,
    policy.tolerations,
    policy.affinity,
    secrets.in_role_commands,
)

ENV_CHECKS: tuple[EnvCheck, ...] = (
    env.managed,
    env.source,
    env.spelling,
    env.case,
    env.devices,
    secrets.in_env,
)
