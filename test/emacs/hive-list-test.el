;;; hive-list-test.el --- The list of questions  -*- lexical-binding: t; -*-

;; Tags: undisturbed

(require 'hive-list)
(require 'hive-list-test-help)
(require 'hive-test-help)

(ert-deftest hive-list-shows-the-most-urgent-first ()
  (hive-list-test
    (hive-model-put-prompt (hive-test-prompt :question "Low?" :urgency "low"))
    (hive-model-put-prompt (hive-test-prompt :question "Normal?" :agent "Codex-1" :source "bg" :project "rocket"
                                             :expires_at (format-time-string "%FT%T.000Z" (+ 600 (hive-now)) t)))
    (hive-model-put-prompt (hive-test-prompt :question "Critical\nquestion?" :urgency "critical"))
    (hive-list)
    (let ((lines (hive-list-test-lines)))
      (should (string-match-p "! +Claude-abc12 +main +demo .*Critical question\\?" (nth 0 lines)))
      (should (string-match-p "Codex-1 +bg +rocket .* \\(?:9\\|10\\)m +Normal\\?" (nth 1 lines)))
      (should (string-match-p "· .*Low\\?" (nth 2 lines))))))

(ert-deftest hive-list-is-live-and-keeps-point-on-its-question ()
  (hive-list-test
    (dolist (id '("b" "d" "f"))
      (hive-model-put-prompt (hive-test-prompt :ask_id id :created_at id :question (concat "Question " id))))
    (hive-list)
    (forward-line 1)
    (forward-char 10)
    (let ((column (current-column)))
      (should (equal "d" (tabulated-list-get-id)))
      (hive-model-put-prompt (hive-test-prompt :ask_id "a" :created_at "a"))
      (hive-model-put-prompt (hive-test-prompt :ask_id "e" :created_at "e"))
      (hive-test-wait 2 (= 5 (length (hive-list-test-lines))))
      (should (equal "d" (tabulated-list-get-id)))
      (should (= column (current-column))))
    ;; Its question is gone: point moves to a question nearby.
    (hive-model-put-prompt (hive-test-prompt :ask_id "d" :status "responded"))
    (hive-test-wait 2 (= 4 (length (hive-list-test-lines))))
    (should (tabulated-list-get-id))))

(ert-deftest hive-list-keeps-the-place-of-windows-that-are-not-selected ()
  (hive-list-test
    (dotimes (i 50)
      (hive-model-put-prompt (hive-test-prompt :ask_id (format "%03d" i) :created_at (format "b%03d" i))))
    (hive-list)
    (delete-other-windows)
    (let ((other (selected-window)) (window (split-window)))
      (set-window-buffer window "*hive*")
      (select-window window)
      (switch-to-buffer "*scratch*")
      (with-current-buffer "*hive*"
        (set-window-point other (hive-list--position "020"))
        (hive-model-put-prompt (hive-test-prompt :ask_id "new" :created_at "a"))
        (hive-test-wait 2 (= 51 (length (hive-list-test-lines))))
        (should (equal "020" (tabulated-list-get-id (window-point other)))))
      (should (eq window (selected-window))))))

(ert-deftest hive-list-out-of-sight-is-brought-up-to-date-when-shown ()
  (hive-list-test
    (hive-list)
    (let ((buffer (current-buffer)))
      (switch-to-buffer "*scratch*")
      (delete-other-windows)
      (hive-model-put-prompt (hive-test-prompt))
      (hive-test-run-timers 60)
      (should (= 0 (length (hive-list-test-lines))))
      (set-window-buffer nil buffer)
      (hive-list--appeared (selected-window)) ; batch Emacs has no redisplay
      (should (= 1 (length (hive-list-test-lines)))))))

(ert-deftest hive-list-all-ages-are-of-the-same-moment-when-one-line-has-changed ()
  (hive-list-test
    (hive-model-put-prompt (hive-test-prompt :question "Old?" :created_at (hive-text-before 300)))
    (hive-list)
    (should (string-match-p " 5m +Old\\?" (buffer-string)))
    (let ((later (+ 120 (hive-now))))
      (cl-letf (((symbol-function 'hive-now) (lambda () later)))
        (hive-model-put-prompt (hive-test-prompt :question "New?" :created_at (hive-text-now)))
        (hive-test-run-timers 1)
        (should (string-match-p " [0-9]s +New\\?" (buffer-string)))
        (should (string-match-p " 7m +Old\\?" (buffer-string)))))))

(ert-deftest hive-list-shows-first-what-blocks-an-agent-and-for-how-long ()
  (hive-list-test
    (hive-model-put-prompt (hive-test-prompt :question "Urgent?" :urgency "critical"))
    (hive-model-put-prompt (hive-test-prompt :question "May I?" :blocked_since (hive-test-time -6630)))
    (hive-list)
    (should (string-match-p "blocked for 1h 50m  May I\\?" (car (hive-list-test-lines))))
    (should-not (string-match-p "blocked" (cadr (hive-list-test-lines))))))

(ert-deftest hive-list-updated-by-line-equals-a-new-print ()
  (random "line by line")
  (hive-list-test
    (let ((ids nil) (next 0))
      (hive-list)
      (dotimes (_ 300)
        (pcase (random 4)
          ((or 0 1)
           (push (format "ask-%d" (cl-incf next)) ids)
           (hive-model-put-prompt
            (hive-test-prompt :ask_id (car ids) :question (format "Question %d" next)
                              :urgency (nth (random 3) '("low" "normal" "critical"))
                              :created_at (format "2026-01-01T00:00:00.%03dZ" (random 1000)))))
          (2 (when ids
               (let ((id (nth (random (length ids)) ids)))
                 (setq ids (delete id ids))
                 (hive-model-put-prompt (hive-test-prompt :ask_id id :status "responded")))))
          (3 (when ids
               (let ((prompt (copy-sequence (hive-model-prompt (nth (random (length ids)) ids)))))
                 (hive-model-put-prompt (append (list :question (format "Changed %d" (random 100))
                                                      :urgency (nth (random 3) '("low" "normal" "critical")))
                                                prompt))))))
        (when (= 0 (random 3))
          (hive-list--update)))
      (hive-list--update)
      (let ((updated (buffer-string)))
        (hive-list--print)
        (should (equal updated (buffer-string)))
        (should (= (length ids) (length (hive-list-test-lines))))))))

(ert-deftest hive-list-refreshed-equals-a-new-print-and-keeps-the-lines-that-look-as-before ()
  (random "refreshed")
  (hive-list-test
    (let ((now (hive-now)))
      (cl-letf (((symbol-function 'hive-now) (lambda () now)))
        (dotimes (number 60)
          (hive-model-put-prompt
           (hive-test-prompt :ask_id (format "ask-%d" number) :project (format "p%d" (% number 3))
                             :created_at (hive-test-time (- (expt (random 100) 3))))))
        (hive-list)
        (let ((entries (hive-list-test-entries)))
          (hive-list-refresh)
          ;; The same objects: nothing was printed.
          (should (cl-every #'eq entries (hive-list-test-entries))))
        (puthash "ask-30" t hive-list--marks)
        (hive-list-refresh)
        (should (= 1 (cl-count ?> (hive-list-test-lines) :key (lambda (line) (aref line 0)))))
        (clrhash hive-list--marks)
        (hive-list-refresh)
        (should-not (cl-find ?> (hive-list-test-lines) :key (lambda (line) (aref line 0))))
        ;; All lines are printed again, the last one too.
        (goto-char (point-max))
        (setq now (+ now 100000))
        (hive-list-refresh)
        (should (eobp))
        (dolist (seconds '(1 59 3600 100000))
          (setq now (+ now seconds))
          (goto-char (hive-list--position "ask-30"))
          (hive-list-refresh)
          (should (equal "ask-30" (tabulated-list-get-id)))
          (let ((refreshed (buffer-string)))
            (hive-list--print)
            (should (equal refreshed (buffer-string)))))))))

(ert-deftest hive-list-a-line-that-changes-under-point-keeps-it ()
  (hive-list-test
    (dolist (id '("a" "b" "c"))
      (hive-model-put-prompt (hive-test-prompt :ask_id id :created_at id)))
    (hive-list)
    (goto-char (hive-list--position "b"))
    (forward-char 7)
    (hive-model-put-prompt (hive-test-prompt :ask_id "b" :created_at "b" :question "Changed?"))
    (hive-list--update)
    (should (string-match-p "Changed\\?" (nth 1 (hive-list-test-lines))))
    (should (equal "b" (tabulated-list-get-id)))
    (should (= 7 (current-column)))))

(ert-deftest hive-list-shows-at-most-500-rows-and-says-so ()
  (hive-list-test
    (hive-model-replace (cl-loop for i below 3000 collect (hive-test-prompt :ask_id (number-to-string i))))
    (hive-list)
    (should (= 500 (length (hive-list-test-lines))))
    (should (equal " 500 of 3000" mode-line-process))))

(ert-deftest hive-list-text-of-agents-is-inert ()
  (hive-list-test
    (hive-model-put-prompt
     (hive-test-prompt :agent "%b\u202E" :question (propertize "q\ec" 'display "zzz" 'invisible t)))
    (hive-list)
    (should (string-match-p "%b<U\\+202E> .*q\\^\\[c" (car (hive-list-test-lines))))
    (goto-char (point-min))
    (should-not (text-property-not-all (point-min) (point-max) 'invisible nil))
    (should-not (text-property-any (point-min) (point-max) 'display "zzz"))))

(ert-deftest hive-list-answers-and-cancels-at-point ()
  (hive-test-with-desk nil
    (save-window-excursion
      (hive-test-connect)
      (hive-test-call 'fake/ask '(:created_at "2026-01-01" :question "First?"))
      (hive-test-call 'fake/ask '(:created_at "2026-01-02" :question "Second?"))
      (hive-test-wait 5 (= 2 (length (hive-prompts))))
      (hive-list)
      (forward-line 1)
      (hive-test-with-inputs (list "fine")
        (call-interactively (key-binding (kbd "a"))))
      (hive-test-wait 5 (= 1 (length (hive-list-test-lines))))
      ;; The line disappears before the answer has arrived.
      (hive-test-wait 5 (hive-test-answers))
      (should (equal "fine" (plist-get (car (hive-test-answers)) :decision)))
      (goto-char (point-min))
      (cl-letf (((symbol-function 'y-or-n-p) #'always))
        (call-interactively (key-binding (kbd "c"))))
      (hive-test-wait 5 (= 0 (length (hive-list-test-lines))))
      (should-error (call-interactively (key-binding (kbd "a"))) :type 'user-error)
      (call-interactively (key-binding (kbd "g"))))))

;;;; Narrow windows

(defun hive-list-test-columns ()
  "Return the titles of the columns."
  (mapcar #'car (append tabulated-list-format nil)))

(ert-deftest hive-list-in-a-narrow-window-has-room-for-the-question ()
  (hive-list-test
    (hive-model-put-prompt (hive-test-prompt :question "Which one?" :project "rocket" :kind "permission" :source "fork"))
    (hive-list)
    (delete-other-windows)
    (cl-letf* ((width 60) ((symbol-function 'window-width) (lambda (&rest _) width)))
      (hive-list--resized (selected-window)) ; batch Emacs has no redisplay
      (should (equal '("" "Agent" "Age" "Question") (hive-list-test-columns)))
      (should (string-match-p "\\[fork] Claude-.*Which one\\?" (car (hive-list-test-lines))))
      (should-not (string-match-p "rocket\\|perm\\|main" (car (hive-list-test-lines))))
      (should (< (string-match "Which" (car (hive-list-test-lines))) 40))
      ;; A line that is updated alone has the same columns.
      (hive-model-put-prompt (hive-test-prompt :question "Another?"))
      (hive-list--update)
      (let ((updated (buffer-string)))
        (hive-list--print)
        (should (equal updated (buffer-string))))
      ;; A removed column no longer sorts the list.
      (setq width 80)
      (hive-list--resized (selected-window))
      (should (equal '("" "Agent" "Kind" "Age" "Question") (hive-list-test-columns)))
      (setq width 100)
      (hive-list--resized (selected-window))
      (should (equal '("" "Agent" "Source" "Project" "Kind" "Age" "Expires" "Question") (hive-list-test-columns)))
      (should (string-match-p "rocket" (buffer-string)))
      (setq tabulated-list-sort-key '("Project"))
      (setq width 60)
      (hive-list--resized (selected-window))
      (should-not tabulated-list-sort-key)
      (should (= 2 (length (hive-list-test-lines)))))))
