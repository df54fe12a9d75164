# Installs the programs of A2C-SMCP for this user, without administrator rights and without npm:
#   irm https://github.com/a2c-smcp/typescript-sdk/releases/latest/download/install.ps1 | iex
# A second run updates. $env:A2C_VERSION chooses a release, $env:A2C_INSTALL a folder, $env:A2C_DOWNLOAD another place of the archives.
& {
  $ErrorActionPreference = 'Stop'
  $ProgressPreference = 'SilentlyContinue'
  $releases = 'https://github.com/a2c-smcp/typescript-sdk/releases'
  $place = if ($env:A2C_DOWNLOAD) { $env:A2C_DOWNLOAD }
    elseif ($env:A2C_VERSION) { "$releases/download/v$env:A2C_VERSION" }
    else { "$releases/latest/download" }
  $folder = if ($env:A2C_INSTALL) { $env:A2C_INSTALL } else { Join-Path $env:LOCALAPPDATA 'Programs\a2c-smcp' }
  # Complete, as Windows names the programs that run.
  $folder = $ExecutionContext.SessionState.Path.GetUnresolvedProviderPathFromPSPath($folder)
  $machine = if ($env:PROCESSOR_ARCHITECTURE -eq 'ARM64') { 'arm64' } else { 'x64' }

  # What is there is removed.
  if ((Test-Path $folder) -and -not (Test-Path (Join-Path $folder 'a2c-smcp-deno.exe'))) {
    throw "Cannot install a2c-smcp: $folder is no installation of it; remove it, or choose another folder with A2C_INSTALL"
  }

  # Windows replaces no program that runs.
  $program = Join-Path $folder 'a2c-smcp-deno.exe'
  if (Get-Process 'a2c-smcp-deno' -ErrorAction SilentlyContinue | Where-Object { $_.Path -eq $program }) {
    throw "Cannot install a2c-smcp: the program in $folder runs. Quit Claude and other MCP clients, end Computer, Server and hub, and run this line again; nothing was changed"
  }
  # A virus scanner may hold files that were unpacked a moment ago.
  function Move-Folder($from, $to) {
    for ($round = 1; $true; $round++) {
      try { Move-Item $from $to; return } catch { if ($round -eq 5) { throw } }
      Start-Sleep -Seconds 2
    }
  }

  # On the same disk, since folders cannot be moved to another one.
  $work = Join-Path (Split-Path $folder) ".a2c-smcp-$([Guid]::NewGuid())"
  $old = Join-Path $work 'old'
  New-Item -ItemType Directory -Force $work | Out-Null
  try {
    $sums = Join-Path $work 'SHA256SUMS'
    Invoke-WebRequest -UseBasicParsing "$place/SHA256SUMS" -OutFile $sums
    # Another place may have another release.
    $version = if ($env:A2C_VERSION) { [regex]::Escape($env:A2C_VERSION) } else { '[0-9].*' }
    $line = Get-Content $sums | Where-Object { $_ -match "  a2c-smcp-$version-windows-$machine\.zip$" }
    if (-not $line) { throw "Cannot install a2c-smcp: $place has no such archive for windows-$machine" }
    $digest, $archive = $line -split '  ', 2
    Write-Host "Downloading $archive"
    $path = Join-Path $work $archive
    Invoke-WebRequest -UseBasicParsing "$place/$archive" -OutFile $path
    if ((Get-FileHash $path -Algorithm SHA256).Hash -ne $digest) {
      throw "Cannot install a2c-smcp: $archive does not have the checksum of the release; nothing was changed"
    }
    Write-Host 'Unpacking its thousands of files, which may take some minutes'
    Expand-Archive $path (Join-Path $work 'new')
    $new = (Get-ChildItem (Join-Path $work 'new'))[0].FullName
    & (Join-Path $new 'a2c-smcp.cmd') --version | Out-Null
    if ($LASTEXITCODE -ne 0) { throw 'Cannot install a2c-smcp: the program does not start on this system; nothing was changed' }
    try {
      if (Test-Path $folder) { Move-Folder $folder $old }
      Move-Folder $new $folder
    } catch {
      $reason = $_.Exception.Message
      $state = 'Nothing was changed.'
      if (Test-Path $old) {
        try {
          Move-Folder $old $folder
          $state = 'What was there is there again.'
        } catch { $state = "The program that was there is now in ${old}: move it to $folder." }
      }
      throw "Cannot install a2c-smcp: cannot write ${folder}: $reason $state Quit Claude and other MCP clients, end Computer, Server and hub, and run this line again"
    }
    $path = [Environment]::GetEnvironmentVariable('Path', 'User')
    if (($path -split ';') -notcontains $folder) {
      [Environment]::SetEnvironmentVariable('Path', "$path;$folder", 'User')
      Write-Host 'PATH has the folder from now on, in new terminals.'
    }
    Write-Host "Installed in $folder. Next: open a new terminal, and run: a2c-smcp demo"
  } finally {
    # The old program stays here if it could not be put back.
    if ((Test-Path $folder) -or -not (Test-Path $old)) {
      Remove-Item -Recurse -Force $work -ErrorAction SilentlyContinue
    }
  }
}
