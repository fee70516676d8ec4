;;; hive-terminal.el --- The terminal of an agent  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT

;;; Commentary:

;; Goes to the terminal in which an agent runs: in this Emacs, in tmux, in kitty
;; or WezTerm, or in a window of the desktop.  All of them are found by the
;; agent's process and those above it.  Emacs never waits for another program.

;;; Code:

(require 'cl-lib)
(require 'hive-messages)
(require 'hive-notify)
(require 'hive-rpc)
(require 'hive-text)

;;;; In this Emacs

;; An agent in a terminal of this Emacs (vterm, eat, ghostel, term, shell) descends
;; from one of Emacs' own processes.  That leads from a session to its
;; buffer, whatever package made the terminal.

(defun hive-terminal--ancestors (pid)
  "Return PID and the ids of its ancestors, nearest first."
  (let (chain)
    (while (and (integerp pid) (> pid 1) (not (memq pid chain)) (< (length chain) 50))
      (push pid chain)
      (setq pid (alist-get 'ppid (process-attributes pid))))
    (nreverse chain)))

;; The process of ghostel may be a pipe, whose program has the id in a
;; property, or in a variable of its buffer.

(defvar ghostel--pid)

(defun hive-terminal-buffers ()
  "Return an alist of the ids of programs and the buffers that show them."
  (append
   (cl-loop for process in (process-list)
            for pid = (or (process-id process) (process-get process 'ghostel--native-pid))
            when (and (integerp pid) (buffer-live-p (process-buffer process)))
            collect (cons pid (process-buffer process)))
   (and (boundp 'ghostel--pid)
        (cl-loop for buffer in (buffer-list)
                 for pid = (buffer-local-value 'ghostel--pid buffer)
                 when (integerp pid) collect (cons pid buffer)))))

(defun hive-terminal-buffer (pid)
  "Return the buffer whose process is PID or an ancestor of it, or nil."
  (let ((ours (hive-terminal-buffers)))
    (cl-loop for ancestor in (hive-terminal--ancestors pid)
             thereis (alist-get ancestor ours))))

(defvar hive-agent-buffer-functions nil
  "Functions that return the buffer of the agent with a session id, or nil.
They go before the search among the processes of this Emacs.")

(defvar hive-agent-visited-hook nil
  "Run in the buffer of an agent that the human has gone to.")

(defun hive-terminal-visit (session-id name)
  "Go to the terminal of SESSION-ID, an agent called NAME."
  (let ((buffer (run-hook-with-args-until-success 'hive-agent-buffer-functions session-id)))
    (if (not buffer) (hive-terminal--visit-by-process session-id (hive-text-line name 40))
      (pop-to-buffer buffer)
      (run-hooks 'hive-agent-visited-hook))))

(defun hive-terminal-visit-asker (prompt)
  "Go to the terminal of the agent of PROMPT."
  (hive-terminal-visit (plist-get prompt :session_id) (hive-text-title prompt)))

(defun hive-terminal--visit-by-process (session-id name)
  "Go to the terminal with the process of SESSION-ID, an agent called NAME."
  (let ((from (selected-window)))
    (hive-rpc-request
     'session/list (list :state "alive" :limit 500)
     :success
     (lambda (result)
       (let* ((session (hive-find :session_id session-id (plist-get result :sessions)))
              (machine (or (plist-get session :machine) ""))
              (pid (or (plist-get session :pid) (plist-get session :shell_pid)))
              (buffer (and session (hive-terminal-buffer pid))))
         (cond ((null session) (hive-announce "%s is no longer running" name))
               ;; A process of another machine has its numbers there.
               ((string-prefix-p "token:" machine)
                (hive-announce "%s runs on another machine, which has the token %s"
                               name (hive-text-line (substring machine 6) 40)))
               ((null buffer) (hive-terminal--visit-outside (hive-terminal--ancestors pid) name))
               ;; If the human has moved on, show the buffer without selecting it.
               ((and (eq from (selected-window)) (not (hive-notify-busy-p)))
                (pop-to-buffer buffer))
               (t (display-buffer buffer)))))
     :error (hive-announcing "Hive could not find out where %s runs: %s" name))))

;;;; Outside of this Emacs

(defun hive-terminal--visit-outside (chain name)
  "Go to the terminal of the agent called NAME, outside of this Emacs.
CHAIN are the ids of its process and of those above it, nearest first."
  (hive-terminal--go
   (list #'hive-terminal--go-in-tmux #'hive-terminal--go-in-kitty #'hive-terminal--go-in-wezterm
         #'hive-terminal--go-to-window)
   chain name
   (lambda (said)
     (apply #'hive-announce (or said (list "%s runs %s, where Hive cannot take you" name (hive-terminal--words chain)))))))

(defun hive-terminal--go (places chain name then)
  "Try PLACES one after the other for the agent called NAME with CHAIN.
Each is a function of CHAIN, NAME and a function that it calls with what
to announce, or with nil if the agent is not there.  Call THEN with the
first that is not nil, or with nil."
  (if (null places) (funcall then nil)
    (funcall (car places) chain name
             (lambda (said)
               (if said (funcall then said)
                 (hive-terminal--go (cdr places) chain name then))))))

(defun hive-terminal--words (chain)
  "Return in words the terminal of the process whose id is the first of CHAIN."
  (let ((terminal (and chain (alist-get 'ttname (process-attributes (car chain))))))
    (if (and (stringp terminal) (not (string-empty-p terminal)))
        (hive-words "at %s" (hive-text-line terminal 30))
      (hive-words "without a terminal"))))

(defun hive-terminal--run (command then)
  "Run COMMAND, a list of a program and its arguments.
Call THEN with its exit code and output; with a code that is not 0 where
there is no such program.  After five seconds it is ended: it may wait
for something that hangs."
  (if (not (executable-find (car command))) (funcall then -1 "")
    (let* ((buffer (generate-new-buffer " *hive terminal*"))
           (process (make-process
                     :name "hive-terminal" :buffer buffer :noquery t :connection-type 'pipe
                     :command command
                     :sentinel (lambda (process _event)
                                 (unless (process-live-p process)
                                   (let ((output (with-current-buffer buffer (buffer-string))))
                                     (kill-buffer buffer)
                                     (funcall then (process-exit-status process) output)))))))
      (hive-later 5 (lambda () (when (process-live-p process) (delete-process process)))))))

;;;;; tmux

;; An agent in tmux descends from the process of its pane.  Each of the human's
;; servers is asked for its panes, because the agent could have changed what its
;; environment says about its own.

(defun hive-terminal--sockets ()
  "Return the sockets of the human's tmux servers.
First comes that of the server in which this frame is."
  (let ((folder (expand-file-name (format "tmux-%d" (user-uid)) (or (getenv "TMUX_TMPDIR") "/tmp")))
        ;; A socket, a process and a session; the socket may be anywhere.
        (here (car (split-string (or (getenv "TMUX" (selected-frame)) "") ","))))
    (and (executable-find "tmux")
         (delete-dups
          (append (and (not (string-empty-p here)) (list here))
                  (and (file-directory-p folder)
                       (eql (user-uid) (file-attribute-user-id (file-attributes folder)))
                       (directory-files folder t directory-files-no-dot-files-regexp)))))))

(defun hive-terminal--tmux (socket args then)
  "Run tmux with ARGS at SOCKET; call THEN with its exit code and output."
  (hive-terminal--run (append (list "tmux" "-S" socket) args) then))

(defun hive-terminal--find-pane (chain sockets then)
  "Find the pane of tmux whose process is one of CHAIN, at one of SOCKETS.
Call THEN with its socket, its id and its session, or with nil."
  (if (null sockets) (funcall then nil)
    (hive-terminal--tmux
     (car sockets) '("list-panes" "-a" "-F" "#{pane_pid} #{pane_id} #{session_name}")
     (lambda (_code output)
       (let ((pane (cl-loop for line in (split-string output "\n" t)
                            thereis (and (string-match "\\`\\([0-9]+\\) \\(%[0-9]+\\) \\(.*\\)\\'" line)
                                         (memql (string-to-number (match-string 1 line)) chain)
                                         (list (car sockets) (match-string 2 line) (match-string 3 line))))))
         (if pane (funcall then pane)
           (hive-terminal--find-pane chain (cdr sockets) then)))))))

(defun hive-terminal--go-in-tmux (chain name then)
  "Go to the pane of tmux that has one of CHAIN; see `hive-terminal--go'.
NAME is what the agent is called; call THEN with what to announce."
  (hive-terminal--find-pane
   chain (and chain (hive-terminal--sockets))
   (lambda (pane)
     (pcase pane
       ('nil (funcall then nil))
       (`(,socket ,id ,session)
        (hive-terminal--tmux
         socket (list "select-window" "-t" id ";" "select-pane" "-t" id ";" "switch-client" "-t" id)
         (lambda (code _output)
           (funcall then (list (if (eql code 0) "%s is in the tmux session %s" "%s is in the tmux session %s, which no terminal shows")
                               name (hive-text-line session 40))))))))))

;;;;; kitty and WezTerm

;; Both name a window in the environment of the program that they start in it.
;; That is the process below theirs, and not the agent, which may have written
;; anything into its own.  They take commands if their remote control is on.

(defun hive-terminal--below (program chain)
  "Return the process of CHAIN that PROGRAM, a name, has started, or nil."
  (cl-loop for (pid parent) on chain
           when (and parent (equal program (alist-get 'comm (process-attributes parent))))
           return pid))

(defun hive-terminal--variable (pid name)
  "Return the variable NAME with which the process PID was started, or nil."
  (let ((file (format "/proc/%s/environ" pid)))
    (when (and pid (file-readable-p file))
      (with-temp-buffer
        (insert-file-contents-literally file)
        (cl-loop for entry in (split-string (buffer-string) "\0")
                 when (string-prefix-p (concat name "=") entry)
                 return (substring entry (1+ (length name))))))))

(defun hive-terminal--named (program address window chain)
  "Return the address of PROGRAM and its window of one of CHAIN, or nil.
ADDRESS and WINDOW are the variables that name them."
  (let* ((pid (hive-terminal--below program chain))
         (place (hive-terminal--variable pid address))
         (number (hive-terminal--variable pid window)))
    (and place number (string-match-p "\\`[0-9]+\\'" number) (list place number))))

(defun hive-terminal--go-in-kitty (chain name then)
  "Go to the window of kitty that has one of CHAIN; see `hive-terminal--go'.
NAME is what the agent is called; call THEN with what to announce."
  (pcase (hive-terminal--named "kitty" "KITTY_LISTEN_ON" "KITTY_WINDOW_ID" chain)
    (`(,address ,window)
     (hive-terminal--run
      (list "kitty" "@" "--to" address "focus-window" "--match" (concat "id:" window))
      (lambda (code _output)
        (funcall then (and (eql code 0) (list 'terminal-window name "kitty"))))))
    (_ (funcall then nil))))

(defun hive-terminal--go-in-wezterm (chain name then)
  "Go to the pane of WezTerm that has one of CHAIN; see `hive-terminal--go'.
NAME is what the agent is called; call THEN with what to announce."
  (pcase (hive-terminal--named "wezterm-gui" "WEZTERM_UNIX_SOCKET" "WEZTERM_PANE" chain)
    (`(,socket ,pane)
     (hive-terminal--run
      (list "env" (concat "WEZTERM_UNIX_SOCKET=" socket) "wezterm" "cli" "activate-pane" "--pane-id" pane)
      (lambda (code _output)
        (if (not (eql code 0)) (funcall then nil)
          ;; That selects the pane in its window, and does not raise the window.
          (hive-terminal--go-to-window
           chain name (lambda (_) (funcall then (list 'terminal-window name "WezTerm"))))))))
    (_ (funcall then nil))))

;;;;; Windows of the desktop

(defun hive-terminal--go-to-window (chain name then)
  "Raise the window of X11 of one of CHAIN; see `hive-terminal--go'.
NAME is what the agent is called; call THEN with what to announce.  A
program with several windows does not say which has the agent."
  (if (or (null chain) (null (getenv "DISPLAY" (selected-frame)))) (funcall then nil)
    (hive-terminal--run
     (list "xdotool" "search" "--onlyvisible" "--pid" (number-to-string (car chain)))
     (lambda (_code output)
       (let ((windows (split-string output "\n" t)))
         (if (not (eql 1 (length windows))) (hive-terminal--go-to-window (cdr chain) name then)
           (hive-terminal--run
            (list "xdotool" "windowactivate" (car windows))
            (lambda (code _output)
              (funcall then (and (eql code 0) (list "%s is in the window that was raised" name)))))))))))

(provide 'hive-terminal)
;;; hive-terminal.el ends here
